import { expect, it } from '@jest/globals';
import type { ChainConnector } from '../../../src/modules/chain/index.js';
import { FindSent } from '../../../src/modules/transactions/application/lost-commits/find-sent.js';
import type { LostCommitsRepository } from '../../../src/modules/transactions/domain/lost-commits.repository.js';
import { aHash, aSigner } from '../../support/builders.js';

const SIGNER = aSigner();

it('a transaction that is mined while it is looked for is found: in the pool, or then in its block', async () => {
  const sent = { nonce: 5n, hash: aHash(5) };
  let isMined = false;
  /** Right after each look at the pool or at the blocks, the transaction moves from the one to the other. */
  const look = async (hasIt: boolean): Promise<readonly (typeof sent)[]> => {
    isMined = true;
    return hasIt ? [sent] : [];
  };
  const chain = {
    accountCounts: async () => [{ latest: isMined ? 6n : 5n, pending: 6n }],
    pooledOf: async () => [{ transactions: await look(!isMined), hiddenBelow: 0n, shown: true }],
    minedOf: async () => [{ transactions: await look(isMined), complete: true }],
  };
  const outlook = { signer: SIGNER, cursor: 5n, open: [], known: true, suspect: false };
  const lost = { outlook: async () => [outlook], waitingSince: async () => 1_700_000_000 };
  const [findings] = await new FindSent(lost as unknown as LostCommitsRepository).execute(
    chain as unknown as ChainConnector,
    [SIGNER],
  );
  expect(findings?.unknown).toEqual([sent]);
});
