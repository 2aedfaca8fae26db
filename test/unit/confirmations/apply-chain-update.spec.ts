import { expect, it } from '@jest/globals';
import { signerKey } from '../../../src/kernel/signer-id.js';
import { HoldBehind } from '../../../src/modules/lost-commits/application/hold-behind.js';
import { aLease, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { leasesOf } from '../../support/fakes/fake-leases.js';
import { ApplyChainUpdate } from '../../../src/modules/confirmations/application/apply-chain-update.js';
import type { MatchAttempts, RecheckReceipts } from '../../../src/modules/confirmations/application/match-attempts.js';
import type { ReopenFinal } from '../../../src/modules/confirmations/application/reopen-final.js';
import type { Finalizer } from '../../../src/modules/confirmations/application/finalizer.js';

/** The steps that one update takes, in their order. */
async function stepsOf(gap: boolean): Promise<string[]> {
  const steps: string[] = [];
  const [settled, held] = [aSigner(1), aSigner(2)];
  const step = (name: string) => async () => void steps.push(name);
  await new ApplyChainUpdate(
    { forAll: step('ask for all') } as unknown as RecheckReceipts,
    { execute: step('match the new blocks') } as unknown as MatchAttempts,
    {
      undo: step('undo what was mined'),
      finalize: async () => {
        steps.push('settle');
        return [settled];
      },
    } as unknown as Finalizer,
    { execute: step('reopen what was final') } as unknown as ReopenFinal,
    fakeOf(HoldBehind, {
      look: async (_chainId, signers) => void steps.push(...signers.map((one) => `compare ${signerKey(one)}`)),
    }),
    leasesOf(() => [aLease(settled), aLease(held)]),
  ).execute({ chainId: DEV_CHAIN, head: 9, gap, blocks: [], orphaned: [] });
  return steps;
}

it('what is gone is taken back, also what was final, before new blocks are matched: a tx may be in one of each', async () => {
  expect(await stepsOf(false)).toEqual([
    'undo what was mined',
    'reopen what was final',
    'match the new blocks',
    'settle',
    `compare ${signerKey(aSigner(1))}`,
  ]);
});

it('after a gap all receipts are asked for, too', async () => {
  expect(await stepsOf(true)).toContain('ask for all');
});

it('after a gap the books of all signers are compared: it may be another chain', async () => {
  expect((await stepsOf(true)).slice(-2)).toEqual([1, 2].map((each) => `compare ${signerKey(aSigner(each))}`));
});
