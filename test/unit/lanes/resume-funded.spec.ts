import { expect, it } from '@jest/globals';
import { ResumeFunded } from '../../../src/modules/lanes/application/resume-funded.js';
import type { FundsRepository } from '../../../src/modules/transactions/index.js';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { heldWork } from './funds-fixture.js';

const SIGNERS = [aSigner(1), aSigner(2)];

it('what waited for funds is made due under the leases, and then the lanes are woken', async () => {
  const steps: unknown[] = [];
  const writes = new RecordedWrites();
  writes.onWrite = (_changes, operation) => void steps.push(operation);
  const funds = { makeDue: async (_fence: unknown, signers: unknown) => void steps.push(signers) };
  const bell = { ring: (signers: unknown) => void steps.push(['ring', signers]) };
  const resume = new ResumeFunded(
    heldWork,
    funds as unknown as FundsRepository,
    writes.asDoor(),
    bell,
    new RecordingLog(),
  );
  await resume.execute(DEV_CHAIN, SIGNERS);
  expect(steps).toEqual([SIGNERS, 'funds_arrived', ['ring', SIGNERS]]);
  expect(writes.written).toMatchObject([{ tokens: [1n, 1n] }]);
  await resume.execute(DEV_CHAIN, []);
  expect(steps).toHaveLength(3);
});
