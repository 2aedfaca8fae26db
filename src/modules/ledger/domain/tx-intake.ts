import type { Address, Hash } from '../../../kernel/hex.js';
import type { TxRequest } from './tx-request.js';
import type { TxState } from './tx-state-machine.js';

/** What names a request. */
export type RequestKey = Pick<TxRequest, 'signer' | 'sender' | 'requestId'>;

export interface NewTx {
  readonly txId: string;
  readonly request: TxRequest;
  /** Whether a live node has the key of the signer. If not, the request is not stored, and only an existing tx is returned. */
  readonly isServed: boolean;
}

/** The tx that exists under an `(account, signer, requestId)`. */
export interface AcceptedTx {
  readonly txId: string;
  readonly state: TxState;
  readonly nonce: bigint | null;
  readonly txHash: Hash | null;
  /** The contract that it creates; null when it creates none, or has no nonce yet. */
  readonly contractAddress: Address | null;
  readonly requestHash: Hash;
}

/** The result of one request of an intake batch. `isPaused`: its signer or its account gets no new nonces now. */
export type Intake =
  | { readonly kind: 'created'; readonly txId: string; readonly isPaused: boolean }
  /** The key was used before. The caller compares the hashes. */
  | { readonly kind: 'exists'; readonly tx: AcceptedTx; readonly isPaused: boolean }
  | { readonly kind: 'unknown_signer' }
  /** It wants an authorization of an account that is no signer of the chain. */
  | { readonly kind: 'unknown_authority'; readonly authority: Address }
  | { readonly kind: 'unserved_signer' };

/** Stores the requests of clients. It needs no lease. */
export abstract class TxIntake {
  /** Stores all in one statement and one commit. Results are in the given order. */
  abstract insertPending(txs: readonly NewTx[]): Promise<Intake[]>;
  /** Whether there is a tx for each, in the given order. */
  abstract areStored(keys: readonly RequestKey[]): Promise<boolean[]>;
}
