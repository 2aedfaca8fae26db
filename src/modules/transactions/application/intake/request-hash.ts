import { createHash } from 'node:crypto';
import { type Hash, parseHash } from '../../../../kernel/hex.js';
import { canonicalJson } from '../../../../kernel/json.js';
import type { TxRequest } from '../../domain/tx-request.js';

/** Two spellings of one request (mixed case, `0x10` for `16`, other key order) have one text; any other difference shows. */
export function requestText(request: Omit<TxRequest, 'requestHash'>): string {
  const { signer, requestId, payload, fees, speed, priority, confirmations, expiresAt, metadata } = request;
  return canonicalJson({
    chainId: signer.chainId,
    signer: signer.address,
    requestId,
    to: payload.to,
    value: payload.value.toString(),
    data: payload.data,
    gasLimit: payload.gasLimit?.toString() ?? null,
    accessList: payload.accessList.map(({ address, storageKeys }) => ({ address, storageKeys })),
    maxFeePerGas: fees.maxFeePerGas?.toString() ?? null,
    maxPriorityFeePerGas: fees.maxPriorityFeePerGas?.toString() ?? null,
    speed,
    priority,
    // Absent when not chosen: requests that were stored before there was this field keep their hash.
    ...(confirmations === null ? {} : { confirmations }),
    expiresAt: expiresAt?.toISOString() ?? null,
    metadata,
  });
}

export function hashRequest(text: string): Hash {
  return parseHash(`0x${createHash('sha256').update(text).digest('hex')}`);
}
