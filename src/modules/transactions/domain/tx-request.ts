import type { AccessList, Speed } from '../../chain/index.js';
import type { Address, Hash, Hex } from '../../../kernel/hex.js';
import type { JsonObject } from '../../../kernel/json.js';
import type { SignerId } from '../../../kernel/signer-id.js';

/** What a client wants executed. */
export interface TxPayload {
  /** null creates a contract. */
  readonly to: Address | null;
  /** Wei. */
  readonly value: bigint;
  readonly data: Hex;
  /** Gas; null lets Lockstep estimate. */
  readonly gasLimit: bigint | null;
  readonly accessList: AccessList;
}

/** Explicit fees win over the market; wei per gas. */
export interface RequestedFees {
  readonly maxFeePerGas: bigint | null;
  readonly maxPriorityFeePerGas: bigint | null;
}

/** A client's request: immutable from intake on. */
export interface TxRequest {
  readonly signer: SignerId;
  /** The client's idempotency key, unique per signer. */
  readonly requestId: string;
  /** SHA-256 of the request in one normal form; the same key with another hash is refused (I3). */
  readonly requestHash: Hash;
  readonly payload: TxPayload;
  readonly fees: RequestedFees;
  readonly speed: Speed;
  /** Higher goes first. */
  readonly priority: number;
  /** Blocks on top that make it final, in place of the chain's number; null for the chain's. */
  readonly confirmations: number | null;
  /** Not sent for the first time after this moment. */
  readonly expiresAt: Date | null;
  readonly metadata: JsonObject | null;
}

/** What a lane needs of a request. Metadata is the client's own and may be long, so lanes never read it. */
export type StoredRequest = Omit<TxRequest, 'metadata'>;
