import { expect, it } from '@jest/globals';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import { AskAgain } from '../../../src/modules/confirmations/application/ask-again.js';
import type { FencedUnitOfWork, LeaseManager } from '../../../src/modules/signers/index.js';
import type { AskReceipts } from '../../../src/modules/transactions/application/ask-receipts.js';
import type { LaneMemory, LeasedWork, ManagedTxRepository } from '../../../src/modules/transactions/index.js';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';

it('after a gap, who cannot be asked for now has its lane recover, which asks for all receipts, too', async () => {
  const [fine, troubled] = [{ signer: aSigner(1) }, { signer: aSigner(2) }];
  const forgotten: SignerId[] = [];
  const unused = {} as unknown;
  const askAgain = new AskAgain(
    { heldOn: () => [fine, troubled] } as unknown as LeaseManager,
    { run: async () => [troubled] } as unknown as LeasedWork,
    unused as FencedUnitOfWork,
    unused as ManagedTxRepository,
    unused as AskReceipts,
    { forget: (signers: readonly SignerId[]) => forgotten.push(...signers) } as unknown as LaneMemory,
  );
  await askAgain.forAll(DEV_CHAIN);
  expect(forgotten).toEqual([troubled.signer]);
});
