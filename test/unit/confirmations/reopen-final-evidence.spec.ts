import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SecondObservations } from '../../../src/modules/chain/index.js';
import { ReopenFinal, type ReopenTxs } from '../../../src/modules/confirmations/application/reopen-final.js';
import type { SuspectBlocks } from '../../../src/modules/confirmations/application/suspect-blocks.js';
import type { ReopenNonces } from '../../../src/modules/nonces/application/reopen-nonces.js';
import type { LeaseManager } from '../../../src/modules/signers/index.js';
import type { ManagedTx, MinedTxs } from '../../../src/modules/ledger/index.js';
import type { Hash } from '../../../src/kernel/hex.js';
import { aHash, aManagedTx } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { ModelChain, ModelChains } from '../../support/model-chain.js';
import { evenBooks } from '../../support/fakes/even-books.js';

let chain: ModelChain;
/** Final txs in suspected blocks. */
let final: readonly ManagedTx[];
/** The suspected blocks: they are suspects no more when every tx in them is known to be on the chain. */
let blocks: Map<Hash, number>;
let reopened: string[];
let reopen: ReopenFinal;

beforeEach(() => {
  chain = new ModelChain();
  chain.mineEmpty(5);
  [final, reopened] = [[], []];
  reopen = new ReopenFinal(
    {
      after: async () => ({ blocks, lowest: 2, hasNew: false, keep: () => undefined }),
    } as unknown as SuspectBlocks,
    { finalIn: async () => final } as unknown as MinedTxs,
    new ModelChains(chain),
    new SecondObservations(new FakeClock()),
    { takeFree: async () => undefined } as unknown as LeaseManager,
    {
      execute: async (_: unknown, gone: readonly ManagedTx[]) => void reopened.push(...gone.map(({ id }) => id)),
    } as unknown as ReopenTxs,
    { execute: async () => undefined } as unknown as ReopenNonces,
    evenBooks,
  );
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

/** Which of them are gone, and whether some are, or may be: then their blocks stay suspected. */
async function asked(...txs: readonly ManagedTx[]) {
  [final, reopened, blocks] = [txs, [], new Map([[aHash(0xdead), 2]])];
  await reopen.execute({ chainId: chain.chainId, head: 9, gap: false, blocks: [], orphaned: [] });
  return { gone: reopened, isOpen: blocks.size > 0 };
}

describe('a final tx in a suspected block', () => {
  it('is gone when the endpoints agree on another block, and stays when they agree on its own', async () => {
    expect(await asked(orphan(2), finalAt(3))).toEqual({ gone: ['tx-2'], isOpen: true });
  });

  it('is open while the endpoints agree on nothing', async () => {
    chain.agreedBlocks = async (numbers) => numbers.map(() => null);
    expect(await asked(orphan(2))).toEqual({ gone: [], isOpen: true });
  });

  it('is open above the head: that no block is there is no proof of another', async () => {
    expect(await asked(orphan(6))).toEqual({ gone: [], isOpen: true });
  });

  it('costs one question for each height', async () => {
    const questions = jest.spyOn(chain, 'agreedBlocks');
    const head = jest.spyOn(chain, 'head');
    await asked(orphan(2), finalAt(2), orphan(3));
    expect([questions.mock.calls, head.mock.calls]).toEqual([[[[2, 3]]], []]);
  });

  it('costs no question when there is none', async () => {
    const questions = jest.spyOn(chain, 'agreedBlocks');
    expect(await asked()).toEqual({ gone: [], isOpen: false });
    expect(questions).not.toHaveBeenCalled();
  });
});

describe('what one endpoint alone tells', () => {
  beforeEach(() => {
    chain.speaksAlone = true;
  });

  it('is believed when it says the same at a later block: for each height, and not before', async () => {
    expect(await asked(orphan(2))).toEqual({ gone: [], isOpen: true });
    expect(await asked(orphan(2))).toEqual({ gone: [], isOpen: true });
    chain.mineEmpty(1);
    expect(await asked(orphan(2), orphan(3))).toEqual({ gone: ['tx-2'], isOpen: true });
  });

  it('is not believed when it says another block the second time', async () => {
    await asked(orphan(2));
    chain.reorg(4);
    expect(await asked(orphan(2))).toEqual({ gone: [], isOpen: true });
  });
});
