import { expect, it } from '@jest/globals';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import type { Block, Chains } from '../../../src/modules/chain/index.js';
import type { AskAgain } from '../../../src/modules/confirmations/application/ask-again.js';
import { MatchBlocks } from '../../../src/modules/confirmations/application/match-blocks.js';
import type { ReadReceipts } from '../../../src/modules/confirmations/application/read-receipts.js';
import type { RecordMined } from '../../../src/modules/confirmations/application/record-mined.js';
import type { LeaseManager } from '../../../src/modules/signers/index.js';
import type { Attempt, AttemptRepository } from '../../../src/modules/transactions/index.js';
import { aHash, anAttempt, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { ModelChain, ModelChains } from '../../support/model-chain.js';

it('what a block has of a signer whose lease is renewed late is asked for with the next block, also beside one of ours', async () => {
  const ours = anAttempt({ signer: aSigner(1), txHash: aHash(1) });
  const late = anAttempt({ signer: aSigner(2), txHash: aHash(2) });
  const asked: Attempt[][] = [];
  const chains: Chains = new ModelChains(new ModelChain());
  const match = new MatchBlocks(
    chains,
    { held: (signer: SignerId) => (signer === ours.signer ? {} : null) } as unknown as LeaseManager,
    {
      byHashes: async (_chain: unknown, hashes: readonly string[]) =>
        [ours, late].filter(({ txHash }) => hashes.includes(txHash)),
    } as unknown as AttemptRepository,
    { execute: async () => [] } as unknown as RecordMined,
    {
      execute: async (_chain: unknown, attempts: readonly Attempt[]) => {
        asked.push([...attempts]);
        return [];
      },
    } as unknown as AskAgain,
    { atOnce: async () => new Map() } as unknown as ReadReceipts,
  );
  const block = { number: 1, hash: aHash(9), transactionHashes: [ours.txHash, late.txHash] } as unknown as Block;
  await match.execute(DEV_CHAIN, [block]);
  expect(asked).toEqual([[], [ours]]);
  await match.execute(DEV_CHAIN, []);
  expect(asked.slice(2)).toEqual([[late]]);
});
