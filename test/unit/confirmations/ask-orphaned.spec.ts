import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SecondObservations } from '../../../src/modules/chain/index.js';
import { AskOrphaned } from '../../../src/modules/confirmations/application/ask-orphaned.js';
import type { ManagedTx } from '../../../src/modules/transactions/index.js';
import { aHash, aManagedTx } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { ModelChain, ModelChains } from '../../support/model-chain.js';

let chain: ModelChain;
let ask: AskOrphaned;

beforeEach(() => {
  chain = new ModelChain();
  chain.mineEmpty(5);
  ask = new AskOrphaned(new ModelChains(chain), new SecondObservations(new FakeClock()));
});

/** A tx that became final at this height, in the block that is there, or in another one. */
function finalAt(blockNumber: number, blockHash = chain.blockAt(blockNumber)?.hash ?? aHash(0)): ManagedTx {
  const tx = aManagedTx({ txId: `tx-${blockNumber}` })
    .allocated(0n)
    .sent()
    .mined({ blockNumber, blockHash })
    .build();
  tx.settled('execution reverted', null);
  return tx;
}

const orphan = (height: number): ManagedTx => finalAt(height, aHash(0xdead));

async function asked(...txs: readonly ManagedTx[]) {
  const { gone, open } = await ask.execute(chain.chainId, txs);
  return { gone: gone.map(({ id }) => id), open: open.map(({ id }) => id) };
}

describe('a final tx in a suspected block', () => {
  it('is gone when the endpoints agree on another block, and stays when they agree on its own', async () => {
    expect(await asked(orphan(2), finalAt(3))).toEqual({ gone: ['tx-2'], open: [] });
  });

  it('is open while the endpoints agree on nothing', async () => {
    chain.agreedBlocks = async (numbers) => numbers.map(() => null);
    expect(await asked(orphan(2))).toEqual({ gone: [], open: ['tx-2'] });
  });

  it('is open above the head: that no block is there is no proof of another', async () => {
    expect(await asked(orphan(6))).toEqual({ gone: [], open: ['tx-6'] });
  });

  it('costs one question for each height', async () => {
    const questions = jest.spyOn(chain, 'agreedBlocks');
    const head = jest.spyOn(chain, 'head');
    await asked(orphan(2), finalAt(2), orphan(3));
    expect([questions.mock.calls, head.mock.calls]).toEqual([[[[2, 3]]], []]);
  });

  it('costs no question when there is none', async () => {
    const questions = jest.spyOn(chain, 'agreedBlocks');
    expect(await asked()).toEqual({ gone: [], open: [] });
    expect(questions).not.toHaveBeenCalled();
  });
});

describe('what one endpoint alone tells', () => {
  beforeEach(() => {
    chain.speaksAlone = true;
  });

  it('is believed when it says the same at a later block: for each height, and not before', async () => {
    expect(await asked(orphan(2))).toEqual({ gone: [], open: ['tx-2'] });
    expect(await asked(orphan(2))).toEqual({ gone: [], open: ['tx-2'] });
    chain.mineEmpty(1);
    expect(await asked(orphan(2), orphan(3))).toEqual({ gone: ['tx-2'], open: ['tx-3'] });
  });

  it('is not believed when it says another block the second time', async () => {
    await asked(orphan(2));
    chain.reorg(4);
    expect(await asked(orphan(2))).toEqual({ gone: [], open: ['tx-2'] });
  });
});
