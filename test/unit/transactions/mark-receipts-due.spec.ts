import { expect, it } from '@jest/globals';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import type { SlotRef } from '../../../src/modules/signers/index.js';
import { MarkReceiptsDue } from '../../../src/modules/transactions/application/writing/mark-receipts-due.js';
import type { ManagedTxRepository } from '../../../src/modules/transactions/index.js';
import { aSigner } from '../../support/builders.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';

const LEASES = [1, 2].map((n) => ({ signer: aSigner(n), owner: 'node', token: BigInt(n) }));

it('receipts are asked for page by page, each in a transaction of its own, until the last', async () => {
  const pages: (SlotRef | null)[] = [1n, 2n].map((nonce) => ({ signer: aSigner(1), nonce }));
  const [first, second] = pages;
  const asked: [readonly SignerId[], SlotRef | null][] = [];
  const repository = {
    markReceiptsDue: async (_fence: unknown, signers: readonly SignerId[], after: SlotRef | null) => {
      asked.push([signers, after]);
      return pages.shift() ?? null;
    },
  };
  const writes = new RecordedWrites();
  await new MarkReceiptsDue(repository as unknown as ManagedTxRepository, writes.asDoor()).execute(LEASES, 'recover');
  const signers = LEASES.map(({ signer }) => signer);
  expect(asked).toEqual([null, first, second].map((after) => [signers, after]));
  expect(writes.written).toEqual([1, 2, 3].map(() => ({ operation: 'recover', tokens: [1n, 2n], changes: {} })));
});
