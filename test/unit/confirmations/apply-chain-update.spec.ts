import { expect, it } from '@jest/globals';
import { ApplyChainUpdate } from '../../../src/modules/confirmations/application/apply-chain-update.js';
import type { AskAgain } from '../../../src/modules/confirmations/application/ask-again.js';
import type { MatchBlocks } from '../../../src/modules/confirmations/application/match-blocks.js';
import type { ReopenFinal } from '../../../src/modules/confirmations/application/reopen-final.js';
import type { SettleMined } from '../../../src/modules/confirmations/application/settle-mined.js';

/** The steps that one update takes, in their order. */
async function stepsOf(gap: boolean): Promise<string[]> {
  const steps: string[] = [];
  const step = (name: string) => async () => void steps.push(name);
  await new ApplyChainUpdate(
    { forAll: step('ask for all') } as unknown as AskAgain,
    { execute: step('match the new blocks') } as unknown as MatchBlocks,
    { undo: step('undo what was mined'), execute: step('settle') } as unknown as SettleMined,
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
