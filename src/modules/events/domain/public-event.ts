import type { Address, Hash } from '../../../kernel/hex.js';
import type { JsonObject } from '../../../kernel/json.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import type { EventPosition } from './event-position.js';

/** What clients subscribe to. A new type may be added; what a type means does not change within a version. */
export const PUBLIC_EVENT_TYPES = [
  'tx.accepted',
  'tx.submitted',
  'tx.refused',
  'tx.receipt_updated',
  'tx.confirmations',
  'tx.confirmed',
  'tx.failed',
  'tx.cancelled',
  'tx.replaced',
  'tx.dropped',
  'tx.reorged',
  'hold.reserved',
  'hold.used',
  'hold.closing',
  'hold.consumed',
  'hold.released',
  'hold.dropped',
  'hold.reorged',
  'signer.paused',
  'signer.resumed',
  'signer.balance_low',
  'signer.balance_restored',
  'signer.chain_behind',
  'signer.chain_caught_up',
  'signer.nonce_gap',
  'signer.nonce_gap_closed',
] as const;
export type PublicEventType = (typeof PUBLIC_EVENT_TYPES)[number];

/** The version of the shape of `data`. */
export const PUBLIC_EVENT_VERSION = 1;

/** One event as clients get it, with what readers filter by. */
export interface PublicEvent {
  readonly position: EventPosition;
  readonly type: PublicEventType;
  readonly time: Date;
  readonly chainId: ChainId;
  readonly signer: Address;
  /** Null for an event about a signer. */
  readonly txId: string | null;
  /** The webhook endpoint that its request names. */
  readonly callback: string | null;
  /** Of its tx; null for an event about a signer. */
  readonly account: string | null;
  readonly data: JsonObject;
}

/** A row of the log, with what never changes about its tx and its attempt. */
export interface LoggedEvent {
  readonly xid: bigint;
  readonly seq: bigint;
  readonly time: Date;
  readonly reason: string;
  readonly chainId: ChainId;
  readonly signer: Address;
  readonly txId: string | null;
  readonly requestId: string | null;
  readonly replaces: string | null;
  readonly callback: string | null;
  /** Of its tx. */
  readonly account: string | null;
  readonly toState: string | null;
  /** Its tx is a nonce of an outside sender. */
  readonly isHold: boolean;
  /** The nonce of the attempt `txHash`; of a hold its own. */
  readonly nonce: bigint | null;
  readonly txHash: Hash | null;
  readonly block: { readonly number: number; readonly hash: Hash } | null;
  readonly error: string | null;
  readonly detail: JsonObject | null;
  /** The tx was orphaned before. Only of `mined`. */
  readonly isAfterReorg: boolean;
}
