import { createHash } from 'node:crypto';
import { type Hash, parseHash } from '../../../kernel/hex.js';
import { canonicalJson, type JsonObject } from '../../../kernel/json.js';
import type { RequestedAuthorization } from '../domain/authorization.js';
import type { RequestedPermit } from '../domain/permit.js';
import type { StoredRequest, TxRequest } from '../domain/tx-request.js';

/** As a client sends it, or as it is stored: without metadata. */
type RequestWithoutHash = Omit<StoredRequest, 'requestHash'> & Partial<Pick<TxRequest, 'metadata' | 'hold'>>;

/**
 * The normal form of a request. Two spellings of one request (mixed case, `0x10` for `16`, another key order) have the same text. Any other
 * difference shows in it.
 */
export function requestText(request: RequestWithoutHash): string {
  const {
    signer,
    requestId,
    payload,
    fees,
    speed,
    priority,
    confirmations,
    expiresAt,
    metadata = null,
    callback,
    hold,
  } = request;
  return canonicalJson({
    chainId: signer.chainId,
    signer: signer.address,
    requestId,
    to: payload.to,
    value: payload.value.toString(),
    data: payload.data,
    gasLimit: payload.gasLimit?.toString() ?? null,
    // What follows is left out when not chosen: requests that were stored before these fields existed keep their hash.
    ...(payload.blobHashes && { blobHashes: payload.blobHashes }),
    ...(payload.authorizationList && { authorizationList: payload.authorizationList.map(inText) }),
    ...(payload.permits && { permits: payload.permits.map(asAsked) }),
    accessList: payload.accessList.map(({ address, storageKeys }) => ({ address, storageKeys })),
    maxFeePerGas: fees.maxFeePerGas?.toString() ?? null,
    maxPriorityFeePerGas: fees.maxPriorityFeePerGas?.toString() ?? null,
    speed,
    priority,
    // Left out when not chosen: requests that were stored before these fields existed keep their hash.
    ...(fees.gasPrice === null ? {} : { gasPrice: fees.gasPrice.toString() }),
    ...(fees.maxFeePerBlobGas === null ? {} : { maxFeePerBlobGas: fees.maxFeePerBlobGas.toString() }),
    ...(confirmations === null ? {} : { confirmations }),
    ...(callback === undefined ? {} : { callback }),
    ...(hold && { hold: { ...hold } }),
    expiresAt: expiresAt?.toISOString() ?? null,
    metadata,
  });
}

/** All amounts as decimal strings. */
function inText(authorization: RequestedAuthorization): Record<string, string | number> {
  return Object.fromEntries(
    Object.entries(authorization).map(([name, value]) => [name, typeof value === 'bigint' ? value.toString() : value]),
  );
}

/** Not what is made of it later. Where its parts go is not in the data, which has zeros there. */
function asAsked({ kind, contract, owner, ttl, text, places }: RequestedPermit): JsonObject {
  return { kind, contract, owner, ttl, text: { ...text }, places: places.map((place) => ({ ...place })) };
}

export function hashRequest(text: string): Hash {
  return parseHash(`0x${createHash('sha256').update(text).digest('hex')}`);
}
