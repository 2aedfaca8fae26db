import { describe, expect, it } from '@jest/globals';
import { competingType, noOpType, txTypeOf, typeOfSlot } from '../../../src/modules/sending/domain/tx-type.js';
import type { Attempt, TxPayload, TxType } from '../../../src/modules/ledger/index.js';
import { aHash, anAddress, anAttempt, aRequest } from '../../support/builders.js';

const { payload: PLAIN, fees: NO_FEES } = aRequest();
const ACCESS = { accessList: [{ address: anAddress(3), storageKeys: [] }] };
const BLOBS = { blobHashes: [aHash(1)] };
const AUTHORIZED = { authorizationList: [{ chainId: 1n, address: anAddress(3), signer: anAddress(1) }] };
const EIP1559 = { hasBaseFee: true };
const LEGACY = { hasBaseFee: false };

describe('the type of a payload', () => {
  it.each<[string, Partial<TxPayload>, bigint | null, typeof LEGACY, TxType]>([
    ['of a market fee on a chain with a base fee', {}, null, EIP1559, 2],
    ['with an access list there', ACCESS, null, EIP1559, 2],
    ['on a chain without a base fee', {}, null, LEGACY, 0],
    ['with an access list on such a chain', ACCESS, null, LEGACY, 1],
    ['with a gas price of the client', {}, 5n, EIP1559, 0],
    ['with a gas price of the client and an access list', ACCESS, 5n, EIP1559, 1],
    ['with blobs', BLOBS, null, EIP1559, 3],
    ['with authorizations', AUTHORIZED, null, EIP1559, 4],
  ])('%s', (_, change, gasPrice, quote, type) => {
    expect(txTypeOf({ payload: { ...PLAIN, ...change }, fees: { ...NO_FEES, gasPrice } }, quote)).toBe(type);
  });
});

describe('what competes for a slot', () => {
  const attempt = (type: TxType, maxFeePerGas: bigint, status: Attempt['status'] = 'ACCEPTED'): Attempt =>
    anAttempt({ type, status, fees: { maxFeePerGas, maxPriorityFeePerGas: 1n } });

  it('has the type of the most expensive attempt that may be out, in any order', () => {
    expect(typeOfSlot([attempt(0, 1n), attempt(2, 3n), attempt(0, 2n)])).toBe(2);
    expect(typeOfSlot([attempt(2, 1n), attempt(0, 3n)])).toBe(0);
  });

  it('is not bound by an attempt that every node refused', () => {
    expect(typeOfSlot([attempt(3, 9n, 'REJECTED'), attempt(2, 1n, 'UNKNOWN')])).toBe(2);
    expect(typeOfSlot([attempt(3, 9n, 'REJECTED')])).toBeNull();
    expect(typeOfSlot([])).toBeNull();
  });

  it.each<[string, TxType | null, Partial<TxPayload>, bigint | null, TxType]>([
    ['EIP-1559 where nothing is out', null, {}, null, 2],
    ['EIP-1559 in a slot of one, also with a gas price', 2, {}, 5n, 2],
    ['legacy in a slot of one', 0, {}, null, 0],
    ['what can have an access list in a slot of legacy', 0, ACCESS, null, 1],
    ['with an access list in a slot of one', 1, {}, null, 1],
    ['set code in a slot of EIP-1559, as pools allow', 2, AUTHORIZED, null, 4],
    ['EIP-1559 in a slot of set code, as pools allow', 4, {}, null, 2],
    ['blobs in a slot of blobs', 3, BLOBS, null, 3],
  ])('is as a payload %s', (_, ofSlot, change, gasPrice, type) => {
    const request = { payload: { ...PLAIN, ...change }, fees: { ...NO_FEES, gasPrice } };
    expect(competingType(request, ofSlot, EIP1559)).toBe(type);
  });

  it.each<[string, TxType | null, typeof LEGACY, TxType]>([
    ['a blob transaction in a slot of blobs', 3, EIP1559, 3],
    ['a legacy transaction in a slot of one', 0, EIP1559, 0],
    ['EIP-1559 in a slot of authorizations, because it has none', 4, EIP1559, 2],
    ['EIP-1559 in an empty slot', null, EIP1559, 2],
    ['legacy in an empty slot of a chain without a base fee', null, LEGACY, 0],
  ])('is as a no-op %s', (_, ofSlot, quote, type) => {
    expect(noOpType(ofSlot, quote)).toBe(type);
  });
});
