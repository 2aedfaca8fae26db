import { expect, it } from '@jest/globals';
import { ApplyChainUpdate } from '../../../src/modules/confirmations/application/apply-chain-update.js';
import type { MatchAttempts, RecheckReceipts } from '../../../src/modules/confirmations/application/match-attempts.js';
import type { ReopenFinal } from '../../../src/modules/confirmations/application/reopen-final.js';
import type { Finalizer } from '../../../src/modules/confirmations/application/finalizer.js';

/** The steps that one update takes, in their order. */
async function stepsOf(gap: boolean): Promise<string[]> {
  const steps: string[] = [];
  const step = (name: string) => async () => void steps.push(name);
  await new ApplyChainUpdate(
    { forAll: step('ask for all') } as unknown as RecheckReceipts,
    { execute: step('match the new blocks') } as unknown as MatchAttempts,
    { undo: step('undo what was mined'), finalize: step('settle') } as unknown as Finalizer,
    { execute: step('reopen what was final') } as unknown as ReopenFinal,
  ).execute({ chainId: 1, head: 9, gap, blocks: [], orphaned: [] });
  return steps;
}

it('what is gone is taken back, also what was final, before new blocks are matched: a tx may be in one of each', async () => {
  expect(await stepsOf(false)).toEqual([
    'undo what was mined',
    'reopen what was final',
    'match the new blocks',
    'settle',
  ]);
});

it('after a gap all receipts are asked for, too', async () => {
  expect(await stepsOf(true)).toContain('ask for all');
});
