import type { Hash } from '../../../kernel/hex.js';
import type { JsonObject } from '../../../kernel/json.js';
import type { SignerId } from '../../../kernel/signer-id.js';

/** Why a row was written. Public: clients and dashboards match on it. */
export const EVENT_REASONS = [
  'queued',
  'nonce_reserved',
  'nonce_synced',
  'nonce_recovered',
  'permit_ready',
  'signed',
  'sent',
  'refused',
  'resubmitted',
  'gas_bumped',
  'mined',
  'confirmations',
  'confirmed',
  'failed',
  'reorg_detected',
  'updated',
  'competitive_sent',
  'cancelled',
  'replaced',
  'dropped',
] as const;
/** The reasons of events about a signer, which have no tx. */
export const SIGNER_EVENT_REASONS = [
  'paused',
  'resumed',
  'balance_low',
  'balance_restored',
  'chain_behind',
  'chain_caught_up',
  'nonce_gap',
  'nonce_gap_closed',
] as const;
export type SignerEventReason = (typeof SIGNER_EVENT_REASONS)[number];
export type EventReason = (typeof EVENT_REASONS)[number];

/** One entry of the audit trail: what happened to a managed tx, with the values of that moment. */
export interface TxEvent {
  readonly signer: SignerId;
  readonly txId: string;
  readonly reason: EventReason;
  readonly from: string | null;
  readonly to: string;
  readonly txHash?: Hash | null;
  readonly block?: { readonly number: number; readonly hash: Hash } | null;
  readonly error?: string | null;
  readonly detail?: JsonObject | null;
}

/** One entry of the audit trail about a signer. */
export interface SignerEvent {
  readonly signer: SignerId;
  readonly reason: SignerEventReason;
  readonly detail: JsonObject;
}
