import { expect, it } from '@jest/globals';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import type { SlotRef } from '../../../src/modules/signers/index.js';
import { MarkReceiptsDue } from '../../../src/modules/transactions/application/writing/mark-receipts-due.js';
import type { ManagedTxRepository } from '../../../src/modules/transactions/index.js';
import { aSigner } from '../../support/builders.js';
import { UnfencedWork } from '../../support/fakes/unfenced-work.js';

const LEASE = { signer: aSigner(), owner: 'node', token: 1n };

it('receipts are asked for page by page, each in a transaction of its own, until the last', async () => {
  const pages: (SlotRef | null)[] = [1n, 2n].map((nonce) => ({ signer: LEASE.signer, nonce }));
  const [first, second] = pages;
  const asked: [readonly SignerId[], SlotRef | null][] = [];
  const repository = {
    markReceiptsDue: async (_fence: unknown, signers: readonly SignerId[], after: SlotRef | null) => {
      asked.push([signers, after]);
      return pages.shift() ?? null;
    },
  };
  const work = new UnfencedWork();
  await new MarkReceiptsDue(work, repository as unknown as ManagedTxRepository).execute([LEASE], 'recover');
  expect(asked).toEqual([null, first, second].map((after) => [[LEASE.signer], after]));
  expect(work.tokens).toEqual([[1n], [1n], [1n]]);
});
