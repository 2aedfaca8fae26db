import { describe, expect, it } from '@jest/globals';
import { parseHex } from '../../../src/kernel/hex.js';
import { hashRequest, requestText } from '../../../src/modules/ledger/application/request-hash.js';
import { NO_FEES, type TxRequest } from '../../../src/modules/ledger/domain/tx-request.js';
import { aHash, anAddress, aRequest, aSigner } from '../../support/builders.js';
import { aMadePermit, aPermit } from '../../support/permit-builders.js';

const REQUEST = aRequest();
const SIGNED = { chainId: 1n, address: anAddress(3), nonce: 4n, yParity: 1, r: aHash(5), s: aHash(6) } as const;
const EVERYTHING = aRequest({
  payload: {
    to: anAddress(2),
    value: 3n,
    data: parseHex('0xab'),
    gasLimit: 21_000n,
    accessList: [{ address: anAddress(3), storageKeys: [aHash(4)] }],
  },
  fees: { ...NO_FEES, maxFeePerGas: 5n, maxPriorityFeePerGas: 6n },
  speed: 'fast',
  priority: 7,
  confirmations: 8,
  expiresAt: new Date('2026-01-02T03:04:05Z'),
  metadata: { order: 9 },
});

describe('the text of a request', () => {
  it('is the one under which requests were stored before', () => {
    expect(JSON.parse(requestText(EVERYTHING))).toEqual({
      chainId: 31337,
      signer: anAddress(1),
      requestId: 'request-1',
      to: anAddress(2),
      value: '3',
      data: '0xab',
      gasLimit: '21000',
      accessList: [{ address: anAddress(3), storageKeys: [aHash(4)] }],
      maxFeePerGas: '5',
      maxPriorityFeePerGas: '6',
      speed: 'fast',
      priority: 7,
      confirmations: 8,
      expiresAt: '2026-01-02T03:04:05.000Z',
      metadata: { order: 9 },
    });
  });

  it('has null for what the client left to Lockstep, and nothing of the fields that came later', () => {
    const text = JSON.parse(requestText(REQUEST)) as object;
    expect(text).toMatchObject({ gasLimit: null, maxFeePerGas: null, maxPriorityFeePerGas: null, expiresAt: null });
    for (const later of ['confirmations', 'gasPrice', 'maxFeePerBlobGas', 'blobHashes', 'authorizationList'])
      expect(text).not.toHaveProperty(later);
  });

  it.each<[string, Partial<TxRequest>]>([
    ['signer', { signer: aSigner(2) }],
    ['chain', { signer: { ...aSigner(), chainId: 1 } }],
    ['request id', { requestId: 'request-2' }],
    ['receiver', { payload: { ...REQUEST.payload, to: null } }],
    ['value', { payload: { ...REQUEST.payload, value: 2n } }],
    ['gas limit', { payload: { ...REQUEST.payload, gasLimit: 21_000n } }],
    ['fees', { fees: { ...NO_FEES, maxFeePerGas: 1n } }],
    ['gas price', { fees: { ...NO_FEES, gasPrice: 1n } }],
    ['blob fee', { fees: { ...NO_FEES, maxFeePerBlobGas: 1n } }],
    ['blob', { payload: { ...REQUEST.payload, blobHashes: [aHash(1)] } }],
    ['authorization', { payload: { ...REQUEST.payload, authorizationList: [SIGNED] } }],
    ['speed', { speed: 'urgent' }],
    ['priority', { priority: 1 }],
    ['end', { expiresAt: new Date(0) }],
    ['metadata', { metadata: {} }],
  ])('is another one when the %s is', (_what, change) => {
    expect(requestText(aRequest(change))).not.toBe(requestText(REQUEST));
  });

  it('of a hold is another one for each part of it, and than that of a transaction', () => {
    const hold = { ttl: 60, count: 2, index: 0 };
    const all = [hold, { ...hold, ttl: null }, { ...hold, count: 3 }, { ...hold, index: 1 }];
    const texts = [requestText(REQUEST), ...all.map((one) => requestText(aRequest({ hold: one })))];
    expect(new Set(texts).size).toBe(5);
  });

  it.each<[string, object]>([
    ['chain', { chainId: 0n }],
    ['code', { address: anAddress(4) }],
    ['nonce', { nonce: 5n }],
    ['signature', { s: aHash(7) }],
    ['parity', { yParity: 0 }],
  ])('is another one when the %s of an authorization is', (_what, change) => {
    const text = (item: object) =>
      requestText(aRequest({ payload: { ...REQUEST.payload, authorizationList: [item as typeof SIGNED] } }));
    expect(text({ ...SIGNED, ...change })).not.toBe(text(SIGNED));
  });

  it('has a SHA-256 hash', () => {
    // printf abc | sha256sum
    expect(hashRequest('abc')).toBe('0xba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});

it('permits are a part of the text as they were asked for, and not what is made of them', () => {
  const permit = aPermit({ places: [{ part: 'v', at: 4, bytes: 1 }] });
  const textOf = (...permits: Required<TxRequest['payload']>['permits']) =>
    requestText({ ...REQUEST, payload: { ...REQUEST.payload, permits } });
  expect(textOf({ ...permit, made: aMadePermit() })).toBe(textOf(permit));
  const others = [
    { owner: anAddress(9) },
    { contract: anAddress(9) },
    { ttl: 61 },
    { text: { ...permit.text, message: { value: '1' } } },
    { places: [{ part: 's', at: 4, bytes: 32 }] as const },
  ].map((change) => textOf({ ...permit, ...change }));
  expect(new Set([requestText(REQUEST), textOf(permit), textOf(permit, permit), ...others]).size).toBe(8);
});
