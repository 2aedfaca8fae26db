import { expect, it } from '@jest/globals';
import { Wallet } from 'ethers';
import { parseAddress, parseHex } from '../../../src/kernel/hex.js';
import type { Signable } from '../../../src/kernel/signing.js';
import { signAuthorizations } from '../../../src/modules/sending/application/authorization-signer.js';
import { Custody } from '../../../src/modules/signers/index.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aHash, anAddress, DEV_CHAIN } from '../../support/builders.js';

const WALLET = new Wallet(`0x${'11'.repeat(32)}`);
const SIGNER = { chainId: DEV_CHAIN, address: parseAddress(WALLET.address) };
const custody = fakeOf(Custody, {
  sign: async (_signer: unknown, items: readonly Signable[]) =>
    items.map(({ digest }) => {
      const { r, s, yParity } = WALLET.signingKey.sign(digest);
      return { r: parseHex(r), s: parseHex(s), yParity };
    }),
});

it.each([0n, 1n, 127n, 128n, 4711n])(
  'an own authorization with nonce %d has the signature that ethers makes',
  async (nonce) => {
    const own = { chainId: BigInt(DEV_CHAIN), address: anAddress(3), nonce };
    const { signature } = WALLET.authorizeSync(own);
    const { r, s, yParity } = signature;
    expect(await signAuthorizations(custody, { signer: SIGNER, authorizationList: [own] })).toEqual([
      { ...own, r, s, yParity },
    ]);
  },
);

it('authorizations of clients stay as they are, and in their place', async () => {
  const own = { chainId: 0n, address: anAddress(3), nonce: 1n };
  const given = { ...own, yParity: 1, r: aHash(1), s: aHash(2) } as const;
  const signed = await signAuthorizations(custody, { signer: SIGNER, authorizationList: [given, own, given] });
  expect([signed[0], signed[2]]).toEqual([given, given]);
  expect(signed[1]).toMatchObject(own);
});
