import { beforeEach, describe, expect, it } from '@jest/globals';
import { hashRequest, requestText } from '../../../src/modules/ledger/application/request-hash.js';
import { NewFills } from '../../../src/modules/ledger/application/writing/new-fills.js';
import { aSigner } from '../../support/builders.js';
import { NO_FEES } from '../../../src/modules/ledger/domain/tx-request.js';

const SIGNER = aSigner();
const SLOT = { signer: SIGNER, nonce: 7n };

let fills: NewFills;

beforeEach(() => {
  let last = 0;
  fills = new NewFills({ next: () => `id-${++last}` });
});

describe('a new fill', () => {
  it('holds its slot from the beginning, with the gas of a plain transfer', () => {
    const { tx } = fills.at(SLOT);
    expect(tx).toMatchObject({
      id: 'id-1',
      kind: 'fill',
      signer: SIGNER,
      state: 'ALLOCATED',
      enteredState: 'ALLOCATED',
    });
    expect(tx.progress).toMatchObject({ nonce: 7n, gasLimit: 21_000n, version: 0, txHash: null, closing: null });
    expect(tx.pendingEvents()).toEqual([
      {
        signer: SIGNER,
        txId: 'id-1',
        reason: 'nonce_reserved',
        from: null,
        to: 'ALLOCATED',
        detail: { kind: 'fill', nonce: '7', gasLimit: '21000' },
      },
    ]);
  });

  it('has the gas that it is given, where a transfer takes more', () => {
    expect(fills.at(SLOT, 90_000n).tx.progress.gasLimit).toBe(90_000n);
  });

  it('asks for nothing but that its nonce is used, and soon: no value, no data, to its own account', () => {
    const { request } = fills.at(SLOT);
    const payload = { to: SIGNER.address, value: 0n, data: '0x', gasLimit: null, accessList: [] };
    expect(request).toMatchObject({ signer: SIGNER, payload, speed: 'fast', priority: 0 });
    expect(request).toMatchObject({ confirmations: null, expiresAt: null });
    expect(request.fees).toEqual(NO_FEES);
  });

  it('has an id and a key of its own, and the hash of its request, like what a client sends', () => {
    const [first, second] = [fills.at(SLOT), fills.at(SLOT)];
    expect([first.tx.id, second.tx.id]).toEqual(['id-1', 'id-2']);
    expect([first.request.requestId, second.request.requestId]).toEqual(['fill-id-1', 'fill-id-2']);
    const { requestHash, ...input } = first.request;
    expect(requestHash).toBe(hashRequest(requestText({ ...input, metadata: null })));
    expect(second.request.requestHash).not.toBe(requestHash);
  });
});
