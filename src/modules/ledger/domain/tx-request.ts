import type { AccessList, BlobSidecar, Speed } from '../../chain/index.js';
import type { RequestedAuthorization } from './authorization.js';
import { type Address, type Hash, type Hex, parseHash, parseHex } from '../../../kernel/hex.js';
import type { TxType } from './attempt.js';
import type { RequestedPermit } from './permit.js';
import type { Caller } from '../../../kernel/caller.js';
import type { JsonObject } from '../../../kernel/json.js';
import type { SignerId } from '../../../kernel/signer-id.js';

/** What a client wants to execute. */
export interface TxPayload {
  /** Null creates a contract. */
  readonly to: Address | null;
  /** Wei. */
  readonly value: bigint;
  /** With the parts of permits that are made; until then with zeros in their places. */
  readonly data: Hex;
  /** Absent when its call has no part of one. */
  readonly permits?: readonly RequestedPermit[];
  /** Gas; null when Lockstep shall estimate it. */
  readonly gasLimit: bigint | null;
  readonly accessList: AccessList;
  /** Versioned hashes of its blobs (EIP-4844); absent without blobs. */
  readonly blobHashes?: readonly Hash[];
  /** EIP-7702; absent when it is no set-code transaction. */
  readonly authorizationList?: readonly RequestedAuthorization[];
}

/** Explicit fees replace the market fees, and are the most that Lockstep pays; wei per gas, null where the client chose nothing. */
export interface RequestedFees {
  readonly maxFeePerGas: bigint | null;
  readonly maxPriorityFeePerGas: bigint | null;
  /** The only price of a transaction of type 0 or 1; never together with the two above. */
  readonly gasPrice: bigint | null;
  /** Wei per blob gas (EIP-4844). */
  readonly maxFeePerBlobGas: bigint | null;
}

export const NO_FEES: RequestedFees = {
  maxFeePerGas: null,
  maxPriorityFeePerGas: null,
  gasPrice: null,
  maxFeePerBlobGas: null,
};

/** The request of a client. It changes after intake only when the client replaces it while its tx has no nonce. */
export interface TxRequest {
  readonly signer: SignerId;
  readonly sender: Caller;
  /** The client's idempotency key, unique per account and signer. */
  readonly requestId: string;
  /** SHA-256 of the request in its normal form. The same key with another hash is refused (docs/invariants.md, I3). */
  readonly requestHash: Hash;
  readonly payload: TxPayload;
  readonly fees: RequestedFees;
  readonly speed: Speed;
  /** Higher priorities get their nonces first. */
  readonly priority: number;
  /** Blocks above its own that make it final, in place of the number of the chain; null for the number of the chain. */
  readonly confirmations: number | null;
  /** Not sent for the first time after this time, and closed by a no-op if it is not mined then. */
  readonly expiresAt: Date | null;
  readonly metadata: JsonObject | null;
  /** Id of the webhook endpoint that gets all its events; absent when the client named none. */
  readonly callback?: string;
  /** Its nonce is for an outside sender; it has no payload then. */
  readonly hold?: HoldRequest;
  /** What travels beside its transactions; only with blobs. */
  readonly sidecar?: BlobSidecar;
}

/** A nonce for an outside sender. */
export interface HoldRequest {
  /** Seconds until its end, from when it is stored, by the clock of the database; null for no end. */
  readonly ttl: number | null;
  /** How many nonces were asked for with it, and which of them it is, from 0. */
  readonly count: number;
  readonly index: number;
}

/** What a lane needs of a request. Metadata and blobs may be long, so lanes do not read them; who sent it is nothing to them. */
export type StoredRequest = Omit<TxRequest, 'metadata' | 'sidecar' | 'sender' | 'hold'>;

const NO_DATA = parseHex('0x');
/**
 * The versioned hash of a blob of zeros: a no-op that competes with a blob transaction must have a blob, too. Its commitment is the point at
 * infinity.
 */
const EMPTY_BLOB_HASH = parseHash('0x010657f37554c781402a22917dee2f75def7ab966d7b770905398eba3c444014');

/** Of a hold, whose payload only its outside sender knows. */
export const NO_PAYLOAD: TxPayload = { to: null, value: 0n, data: NO_DATA, gasLimit: null, accessList: [] };

/** What only consumes a nonce: 0 wei from the account to itself. */
export function noOpPayload(account: Address, type: TxType): Omit<TxPayload, 'gasLimit' | 'authorizationList'> {
  const payload = { to: account, value: 0n, data: NO_DATA, accessList: [] };
  return type === 3 ? { ...payload, blobHashes: [EMPTY_BLOB_HASH] } : payload;
}
