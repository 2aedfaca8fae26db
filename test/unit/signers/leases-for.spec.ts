import { expect, it } from '@jest/globals';
import { leasesFor } from '../../../src/modules/signers/domain/leases-for.js';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';

const LEASES = [1, 2, 3].map((n) => ({ signer: aSigner(n), owner: 'me', token: BigInt(n) }));

it('a write takes the leases of the signers that it touches, each once, and no others', () => {
  expect(leasesFor(LEASES, [aSigner(3), aSigner(1), aSigner(3)]).map(({ token }) => token)).toEqual([1n, 3n]);
});

it('a write for a signer without a lease here takes none: its fence is then refused', () => {
  expect(leasesFor(LEASES, [aSigner(4), { ...aSigner(1), chainId: DEV_CHAIN + 1 }])).toEqual([]);
});
