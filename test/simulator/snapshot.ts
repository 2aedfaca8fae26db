import type { Pool } from 'pg';
import type { TxKind } from '../../src/modules/ledger/domain/managed-tx.js';

export interface TxRow {
  readonly id: string;
  readonly kind: TxKind;
  readonly signer: string;
  readonly state: string;
  readonly sub: string | null;
  readonly nonce: number | null;
  readonly hash: string | null;
  readonly block: number | null;
  readonly blockHash: string | null;
  /** Of the request itself. */
  readonly confirmations: number | null;
  readonly token: number | null;
  readonly data: string;
  readonly reason: string | null;
  /** When it expires, in milliseconds of the database. */
  readonly endsAt: number | null;
  /** The tx whose slot it is to take, and the one that is to take its own. */
  readonly replaces: string | null;
  readonly replacedBy: string | null;
  /** Its replacement that nodes refused, and that may be out all the same. */
  readonly withdrawn: string | null;
  readonly resubmits: boolean;
  /** Its next time is a day away, or more. */
  readonly isFar: boolean;
}

export interface EventRow {
  readonly xid: string;
  readonly seq: number;
  readonly tx: string;
  readonly signer: string;
  readonly reason: string;
  readonly from: string | null;
  readonly to: string;
  readonly token: number | null;
  readonly node: string;
  readonly nonce: string | null;
}

export interface SlotRow {
  readonly signer: string;
  readonly nonce: number;
  readonly status: string;
  readonly tx: string | null;
  readonly hash: string | null;
  readonly token: number;
}

export interface AttemptRow {
  readonly hash: string;
  readonly signer: string;
  readonly nonce: number;
  readonly tx: string | null;
  readonly kind: string;
  readonly status: string;
  readonly token: number;
  /** Wei per gas, in decimals. */
  readonly feeCap: string;
  readonly tip: string;
  readonly gas: number;
}

export interface CommandRow {
  readonly id: string;
  readonly tx: string;
  readonly kind: string;
  readonly status: string;
  readonly replacement: string | null;
}

/** What is due at a time, in milliseconds of the database, and waits for its signer's owner. */
export interface DueRow {
  readonly list: string;
  readonly id: string;
  readonly signer: string;
  readonly at: number;
  readonly tries: number;
}

/** Everything that the invariants are about, as of one moment. */
export interface Snapshot {
  readonly leases: readonly {
    readonly signer: string;
    readonly token: number;
    readonly owner: string;
    readonly isLive: boolean;
    /** Given up by its owner, and not run out. */
    readonly isReleased: boolean;
  }[];
  readonly cursors: readonly { readonly signer: string; readonly nonce: number; readonly token: number }[];
  readonly txs: readonly TxRow[];
  readonly events: readonly EventRow[];
  readonly slots: readonly SlotRow[];
  readonly attempts: readonly AttemptRow[];
  readonly commands: readonly CommandRow[];
  /** The time of the database, in milliseconds. */
  readonly atMs: number;
  readonly due: readonly DueRow[];
}

export const EMPTY: Snapshot = {
  leases: [],
  cursors: [],
  txs: [],
  events: [],
  slots: [],
  attempts: [],
  commands: [],
  atMs: 0,
  due: [],
};

/** One statement, so that it is one moment. */
const READ = `
  SELECT json_build_object(
    'leases', (SELECT coalesce(json_agg(json_build_object('signer', signer, 'token', fencing_token, 'owner', owner_node, 'isLive', expires_at > clock_timestamp(), 'isReleased', expires_at = '-infinity')), '[]') FROM signer_lease),
    'cursors', (SELECT coalesce(json_agg(json_build_object('signer', signer, 'nonce', next_nonce, 'token', fencing_token)), '[]') FROM signer_nonce_cursor),
    'txs', (SELECT coalesce(json_agg(json_build_object('id', tx_id, 'kind', kind, 'signer', signer, 'state', state, 'sub', sub_state, 'nonce', nonce, 'hash', tx_hash,
                'block', block_number, 'blockHash', block_hash, 'confirmations', confirmations, 'token', fencing_token, 'data', '0x' || encode(data, 'hex'), 'reason', failure_reason, 'endsAt', extract(epoch FROM expires_at) * 1000, 'replaces', replaces, 'replacedBy', replaced_by, 'withdrawn', withdrawn_replacement,
                'resubmits', next_resubmit_at IS NOT NULL,
                'isFar', coalesce(greatest(next_resubmit_at, next_receipt_check_at) > clock_timestamp() + interval '1 day', false)) ORDER BY tx_id), '[]') FROM managed_tx),
    'events', (SELECT coalesce(json_agg(json_build_object('xid', e.xid::text, 'seq', e.seq, 'tx', e.tx_id, 'signer', t.signer, 'reason', e.reason, 'from', e.from_state, 'to', e.to_state,
                'token', e.fencing_token, 'node', e.node_id, 'nonce', e.detail ->> 'nonce') ORDER BY e.seq), '[]') FROM tx_event e JOIN managed_tx t ON t.tx_id = e.tx_id),
    'slots', (SELECT coalesce(json_agg(json_build_object('signer', signer, 'nonce', nonce, 'status', status, 'tx', tx_id, 'hash', tx_hash, 'token', fencing_token) ORDER BY nonce), '[]') FROM signer_nonce_allocation),
    'attempts', (SELECT coalesce(json_agg(json_build_object('hash', tx_hash, 'signer', signer, 'nonce', nonce, 'tx', tx_id, 'kind', kind, 'status', status, 'token', fencing_token,
                'feeCap', max_fee_per_gas::text, 'tip', max_priority_fee_per_gas::text, 'gas', gas_limit)), '[]') FROM tx_attempt),
    'atMs', extract(epoch FROM clock_timestamp()) * 1000,
    'commands', (SELECT coalesce(json_agg(json_build_object('id', command_id, 'tx', tx_id, 'kind', kind, 'status', status, 'replacement', replacement) ORDER BY command_id), '[]') FROM tx_command),
    'due', (SELECT coalesce(json_agg(json_build_object('list', list, 'id', id, 'signer', signer, 'at', CASE WHEN due > 'epoch' THEN extract(epoch FROM due) * 1000 ELSE 0 END, 'tries', tries)), '[]') FROM (
       SELECT 'resend' AS list, tx_id AS id, signer, next_resubmit_at AS due, 0 AS tries FROM managed_tx WHERE state IN ('ALLOCATED', 'IN_MEMPOOL') AND next_resubmit_at IS NOT NULL
       UNION ALL SELECT 'receipt', tx_id, signer, next_receipt_check_at, 0 FROM managed_tx WHERE state = 'IN_MEMPOOL' AND next_receipt_check_at IS NOT NULL
       UNION ALL SELECT 'expiry', tx_id, signer, expires_at, 0 FROM managed_tx WHERE state = 'PENDING' AND expires_at IS NOT NULL
       UNION ALL SELECT 'command', command_id, signer, due_at, tries FROM tx_command c WHERE status = 'QUEUED'
         AND (kind = 'cancel' OR NOT EXISTS (SELECT FROM signer_pause p WHERE p.signer IN ('', c.signer)))) w)
  ) AS snapshot`;

/** It had a nonce once, and waited for another one afterwards. */
export function gaveUpNonce({ id }: TxRow, { events }: Pick<Snapshot, 'events'>): boolean {
  return events.some(({ tx, from, to }) => tx === id && from !== null && from !== 'PENDING' && to === 'PENDING');
}

export async function readSnapshot(pool: Pool): Promise<Snapshot> {
  const { rows } = await pool.query<{ snapshot: Snapshot }>({ name: 'snapshot', text: READ });
  return rows[0]?.snapshot ?? EMPTY;
}
