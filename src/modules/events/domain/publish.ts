import type { JsonObject } from '../../../kernel/json.js';
import { toJsonInteger } from '../../../kernel/quantities.js';
import { eventId } from './event-position.js';
import { type LoggedEvent, PUBLIC_EVENT_VERSION, type PublicEvent, type PublicEventType } from './public-event.js';

type Part = readonly [PublicEventType, JsonObject];
type Publish = (event: LoggedEvent) => readonly Part[];

const ended =
  (type: PublicEventType): Publish =>
  (event) => [[type, { ...ofBlock(event), ...confirmationsOf(event), reason: event.error }]];
const SIGNER =
  (type: PublicEventType): Publish =>
  ({ detail }) => [[type, { ...detail }]];

const BY_REASON: Readonly<Record<string, Publish>> = {
  queued: ({ replaces }) => [['tx.accepted', { replaces }]],
  sent: (event) => submitted(event),
  refused: ({ error, detail }) => [['tx.refused', { reason: error, becomes: detail?.['becomes'] ?? null }]],
  gas_bumped: (event) => submitted(event),
  mined: (event) => [
    ['tx.receipt_updated', receiptOf(event)],
    ['tx.confirmations', { ...ofBlock(event), ...confirmationsOf(event), newFork: event.isAfterReorg }],
  ],
  // A later answer about the same block. Other updates say nothing about the chain.
  updated: (event) => (event.detail?.['gasUsed'] === undefined ? [] : [['tx.receipt_updated', receiptOf(event)]]),
  reorg_detected: (event) => [['tx.reorged', { ...ofBlock(event), ...confirmationsOf(event) }]],
  confirmed: (event) => [['tx.confirmed', { ...ofBlock(event), ...confirmationsOf(event) }]],
  failed: ended('tx.failed'),
  cancelled: ended('tx.cancelled'),
  replaced: (event) => [
    ['tx.replaced', { ...ofBlock(event), reason: event.error, replacedBy: event.detail?.['replacedBy'] ?? null }],
  ],
  dropped: ended('tx.dropped'),
  paused: SIGNER('signer.paused'),
  resumed: SIGNER('signer.resumed'),
  balance_low: SIGNER('signer.balance_low'),
  balance_restored: SIGNER('signer.balance_restored'),
  chain_behind: SIGNER('signer.chain_behind'),
  chain_caught_up: SIGNER('signer.chain_caught_up'),
  nonce_gap: SIGNER('signer.nonce_gap'),
  nonce_gap_closed: SIGNER('signer.nonce_gap_closed'),
};

/** Of what an outside sender does with its nonce, only what tells it, or whoever waits behind it, something new. */
const BY_REASON_OF_HOLD: Readonly<Record<string, Publish>> = {
  nonce_reserved: () => [['hold.reserved', {}]],
  sent: () => [['hold.used', {}]],
  updated: ({ error, detail }) => (detail?.['subState'] === 'CANCELLING' ? [['hold.closing', { reason: error }]] : []),
  reorg_detected: (event) => [['hold.reorged', ofBlock(event)]],
  confirmed: (event) => [['hold.consumed', { ...ofBlock(event), status: 'success' }]],
  failed: (event) => [['hold.consumed', { ...ofBlock(event), status: 'reverted' }]],
  // Of one that was closed the nonce is used, and nobody gets it.
  cancelled: ({ error, block }) => [['hold.released', { reason: block ? `a no-op used its nonce: ${error}` : error }]],
  dropped: ({ error }) => [['hold.dropped', { reason: error }]],
};

/** Reasons of rows that may be public events. */
export const PUBLISHED_REASONS: readonly string[] = [
  ...new Set([BY_REASON, BY_REASON_OF_HOLD].flatMap((reasons) => Object.keys(reasons))),
];

/** The public events of a row: none when only operators need it. Always the same for the same row. */
export function publicEventsOf(row: LoggedEvent): PublicEvent[] {
  const { xid, seq, time, chainId, signer, txId, callback, account } = row;
  const byReason = row.isHold ? BY_REASON_OF_HOLD : BY_REASON;
  const parts = byReason[row.reason]?.(row) ?? [];
  return parts.map(([type, data], part) => ({
    position: { xid, seq, part },
    type,
    time,
    chainId,
    signer,
    txId,
    callback,
    account,
    data: { ...subjectOf(row), ...data },
  }));
}

/** The body that goes out, the same on every way. */
export function bodyOf({ position, type, time, data }: PublicEvent): JsonObject {
  return { id: eventId(position), type, version: PUBLIC_EVENT_VERSION, time: time.toISOString(), data };
}

function subjectOf({ txId, chainId, signer, requestId, toState, nonce, txHash }: LoggedEvent): JsonObject {
  if (txId === null) return { chainId, signer };
  return {
    txId,
    chainId,
    signer,
    requestId,
    state: toState,
    nonce: nonce === null ? null : toJsonInteger(nonce),
    txHash,
  };
}

function submitted(event: LoggedEvent): readonly Part[] {
  if (event.txHash === null) return [];
  const { gasLimit = null } = event.detail ?? {};
  return [['tx.submitted', { isFeeBump: event.reason === 'gas_bumped', gasLimit }]];
}

const ofBlock = ({ block }: LoggedEvent): JsonObject => ({ block: block && { ...block } });

/** Before there were confirmations, a tx that never had a block has none. */
function confirmationsOf({ detail }: LoggedEvent): JsonObject {
  return { confirmations: detail?.['confirmations'] ?? null, newFork: detail?.['newFork'] ?? false };
}

function receiptOf(event: LoggedEvent): JsonObject {
  const { status = null, gasUsed = null, effectiveGasPrice = null, contractAddress = null } = event.detail ?? {};
  return { ...ofBlock(event), receipt: { status, gasUsed, effectiveGasPrice, contractAddress } };
}
