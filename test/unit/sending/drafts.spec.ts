import { expect, it } from '@jest/globals';
import { payloadDraft } from '../../../src/modules/sending/application/drafts.js';
import { parseHex } from '../../../src/kernel/hex.js';
import { aManagedTx, anAddress, aRequest, aSigner } from '../../support/builders.js';
import { aPermit } from '../../support/permit-builders.js';

it('a payload is signed as it was asked for, at the nonce and the gas limit of its tx', () => {
  const tx = aManagedTx().allocated(7n).build();
  const request = aRequest();
  const fees = { maxFeePerGas: 3n, maxPriorityFeePerGas: 2n };
  expect(payloadDraft({ tx, request }, fees, 42, 1)).toEqual({
    signer: aSigner(),
    nonce: 7n,
    kind: 'payload',
    txId: tx.id,
    to: anAddress(2),
    value: 1n,
    data: '0x',
    accessList: [],
    gasLimit: 21_000n,
    fees,
    type: 1,
    pricedAtBlock: 42,
  });
});

it('a payload is not signed before other signers have signed its authorizations', () => {
  const tx = aManagedTx().allocated(7n).build();
  const authorizationList = [{ chainId: 0n, address: anAddress(3), authority: aSigner(2).address }];
  const request = aRequest({ payload: { ...aRequest().payload, authorizationList } });
  const fees = { maxFeePerGas: 3n, maxPriorityFeePerGas: 2n };
  expect(() => payloadDraft({ tx, request }, fees, 42, 4)).toThrow('not signed yet');
});

it('a payload is not signed with zeros in the place of a permit', () => {
  const tx = aManagedTx().allocated(7n).build();
  const permits = [aPermit({ places: [{ part: 'signature', at: 4, bytes: 65 }] })];
  const payload = { ...aRequest().payload, data: parseHex(`0x12345678${'00'.repeat(65)}`), permits };
  const fees = { maxFeePerGas: 3n, maxPriorityFeePerGas: 2n };
  expect(() => payloadDraft({ tx, request: aRequest({ payload }) }, fees, 42, 2)).toThrow('a permit is not signed yet');
});
