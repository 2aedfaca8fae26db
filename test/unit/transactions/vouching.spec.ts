import { expect, it } from '@jest/globals';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import type { SyncReport, SyncSigner } from '../../../src/modules/transactions/application/sync-signer.js';
import { SignerNoncesController } from '../../../src/modules/transactions/infrastructure/http/signer-nonces.controller.js';
import { aHash, aSigner } from '../../support/builders.js';

const SIGNER = aSigner();
const REPORT: SyncReport = {
  signer: SIGNER,
  chain: { nonce: 5n, block: { number: 7, hash: aHash(7) } },
  pending: 5n,
  cursor: { before: null, after: 5n },
  gap: { freed: 0, remaining: 0 },
  recovered: [],
};

it.each([
  ['says so', { vouch: 'true' }, true],
  ['says the contrary', { vouch: 'false' }, false],
  ['says nothing', {}, false],
] as const)('a person vouches that nothing is out or not: who %s', async (_words, query, vouches) => {
  const asked: unknown[] = [];
  const sync = {
    execute: async (signer: SignerId, atMost: number, isVouched: boolean) => {
      asked.push([signer, atMost, isVouched]);
      return REPORT;
    },
  };
  const controller = new SignerNoncesController(sync as unknown as SyncSigner);
  await controller.run(String(SIGNER.chainId), SIGNER.address, query);
  expect(asked).toEqual([[SIGNER, 1_000, vouches]]);
});
