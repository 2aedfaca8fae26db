import { expect, it } from '@jest/globals';
import { signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import { SignersInDoubt } from '../../../src/modules/lost-commits/application/signers-in-doubt.js';
import { LostCommitsRepository } from '../../../src/modules/ledger/domain/lost-commits.repository.js';
import { DatabaseWatch } from '../../../src/platform/database/database-watch.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aSigner } from '../../support/builders.js';

it('are those that are not reconciled; nobody knows when the connection is newer than the last look at the server', async () => {
  const watch = {
    hasReconnected: true,
    checkIfReconnected: async () => void (watch.hasReconnected = false),
  };
  const [known, other] = [aSigner(1), aSigner(2)];
  const lost = {
    suspects: async (_: unknown, signers: readonly SignerId[]) => signers.filter((signer) => signer !== known),
  };
  const inDoubt = new SignersInDoubt(fakeOf(DatabaseWatch, watch), fakeOf(LostCommitsRepository, lost));
  expect(await inDoubt.among({ open: true }, [known, other])).toBeNull();
  await inDoubt.look();
  expect(await inDoubt.among({ open: true }, [known, other])).toEqual(new Set([signerKey(other)]));
});
