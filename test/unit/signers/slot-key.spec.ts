import { expect, it } from '@jest/globals';
import { slotKey } from '../../../src/modules/signers/domain/slot-key.js';
import { anAddress, aSigner, DEV_CHAIN } from '../../support/builders.js';

it('a slot is told from those of other signers, chains and nonces', () => {
  const slot = { signer: aSigner(1), nonce: 7n };
  expect(slotKey(slot)).toBe(`31337:${anAddress(1)}/7`);
  const others = [
    { ...slot, nonce: 8n },
    { ...slot, signer: aSigner(2) },
    { ...slot, signer: { ...aSigner(1), chainId: DEV_CHAIN + 1 } },
  ];
  expect(new Set([slot, ...others].map(slotKey)).size).toBe(4);
});
