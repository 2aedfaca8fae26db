import type { ManagedTx } from './managed-tx.js';
import type { StoredRequest } from './tx-request.js';

/** A tx with the request of the client: all that signing needs. */
export interface RequestedTx {
  readonly tx: ManagedTx;
  readonly request: StoredRequest;
}

/** Reads txs, in any state. */
export abstract class ManagedTxRepository {
  abstract byIds(txIds: readonly string[]): Promise<ManagedTx[]>;
  /** The txs with their requests, in any order. Of one with permits that has an attempt at its nonce, the call is that of the attempt. */
  abstract requested(txIds: readonly string[]): Promise<RequestedTx[]>;
  /** The other txs that compete, or competed, for the slots of these txs, in any state. */
  abstract rivals(txs: readonly ManagedTx[]): Promise<ManagedTx[]>;
}
