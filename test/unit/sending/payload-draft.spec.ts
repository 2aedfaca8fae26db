import { expect, it } from '@jest/globals';
import { leasesFor } from '../../../src/modules/signers/domain/leases-for.js';
import { payloadDraft } from '../../../src/modules/sending/application/payload-draft.js';
import { slotKey } from '../../../src/modules/signers/domain/slot-key.js';
import { aManagedTx, anAddress, aRequest, aSigner } from '../../support/builders.js';

it('a payload is signed as it was asked for, at the nonce and the gas limit of its tx', () => {
  const tx = aManagedTx().allocated(7n).build();
  const request = aRequest();
  const fees = { maxFeePerGas: 3n, maxPriorityFeePerGas: 2n };
  expect(payloadDraft({ tx, request }, fees)).toEqual({
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
  });
});

it('a write takes the leases of the signers that it touches, and no others', () => {
  const leases = [1, 2, 3].map((n) => ({ signer: aSigner(n), owner: 'me', token: BigInt(n) }));
  expect(leasesFor(leases, [aSigner(3), aSigner(1), aSigner(3)]).map(({ token }) => token)).toEqual([1n, 3n]);
});

it('a slot is told from those of other signers, chains and nonces', () => {
  expect(slotKey({ signer: aSigner(1), nonce: 7n })).toBe(`31337:${anAddress(1)}/7`);
});
