import type { Mishap } from './gate.js';
import type { Seen } from './seen.js';

/** Where most can go wrong: on the two sides of every commit and of every send. */
export const WEAK_SPOTS = [
  'BEGIN',
  'fence_lock_leases',
  'before COMMIT',
  'after COMMIT',
  'before a broadcast',
  'after a broadcast',
  'tx_save',
] as const;
export type WeakSpot = (typeof WEAK_SPOTS)[number];

/** Statements that write, on either side of whose commit a connection may break: of lanes, commands, receipts, leases, intake and the rest. */
export const WRITES = [
  'tx_save',
  'tx_insert_pending',
  'tx_insert_fills',
  'tx_ask_receipts_now',
  'tx_postpone_receipt',
  'attempt_insert',
  'attempt_about_to_send',
  'attempt_record_outcomes',
  'attempt_decide',
  'attempt_reopen',
  'nonce_align',
  'nonce_hold',
  'nonce_hand_over',
  'nonce_consume',
  'nonce_release',
  'nonce_forget_passed',
  'nonce_fill',
  'nonce_reopen',
  'block_store',
  'block_displace',
  'block_orphan',
  'chain_activity_note',
  'command_insert',
  'command_insert_replacement',
  'command_save_pending',
  'command_edit_request',
  'command_decide',
  'command_postpone',
  'event_append',
  'event_append_of_signers',
  'funds_mark_low',
  'blob_delete',
  'signer_pause',
  'signer_resume',
  'lease_acquire',
  'lease_renew',
  'lease_release',
  'node_heartbeat',
  'node_announce_keys',
  'database_open_epoch',
] as const;
export type Write = (typeof WRITES)[number];

export function noteMishap(seen: Seen, mishap: Mishap, place: string): void {
  seen.note(`mishap ${mishap}`);
  for (const spot of WEAK_SPOTS) if (place.includes(spot)) seen.note(`mishap ${mishap} at ${spot}`);
  const [, writes] = /^after COMMIT of (.*)$/.exec(place) ?? [];
  if (mishap === 'fail') for (const write of writes?.split(',') ?? []) seen.note(`unanswered write ${write}`);
}
