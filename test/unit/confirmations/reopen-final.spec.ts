import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import {
  type Block,
  type BlockRef,
  type BlockStore,
  type ChainUpdate,
  SecondObservations,
} from '../../../src/modules/chain/index.js';
import { FindReorgedFinals } from '../../../src/modules/confirmations/application/find-reorged-finals.js';
import { ReopenFinal, ReopenTxs } from '../../../src/modules/confirmations/application/reopen-final.js';
import { SuspectBlocks } from '../../../src/modules/confirmations/application/suspect-blocks.js';
import type { ReopenNonces } from '../../../src/modules/nonces/application/reopen-nonces.js';
import type { DatabaseWatch } from '../../../src/platform/database/database-watch.js';
import type { LeaseManager } from '../../../src/modules/signers/index.js';
import type { LeasedWork } from '../../../src/modules/ledger/index.js';
import { aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { ModelChain, ModelChains } from '../../support/model-chain.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { TxsInMemory } from './txs-in-memory.js';
import { ourWork } from '../../support/fakes/our-work.js';
import { CompareBooks } from '../../../src/modules/lost-commits/application/compare-books.js';
import { fakeOf } from '../../support/fakes/fake-of.js';

const SIGNER = aSigner();

let chain: ModelChain;
let txs: TxsInMemory;
/** Blocks that are stored as taken back, by whichever node. */
let stored: BlockRef[];
let isOurs: boolean;
let isDown: boolean;
let slotsWait: boolean;
/** Whether the chain is the one on which the signers used their nonces. */
let isSameChain: boolean;
let takenFree: string[];
/** From where on slots without a tx are looked at, for each update. */
let lowest: (number | null)[];
let metrics: FakeMetrics;
let reopen: ReopenFinal;

const forks = () => metrics.counted('confirmations_newFork_total')[''] ?? 0;

beforeEach(() => {
  chain = new ModelChain();
  txs = new TxsInMemory();
  [stored, takenFree, lowest] = [[], [], []];
  [isOurs, isDown, slotsWait, isSameChain, metrics] = [true, false, false, true, new FakeMetrics()];
  const log = new RecordingLog();
  const chains = new ModelChains(chain);
  const { onWrite } = txs.writes;
  txs.writes.onWrite = (...args) => {
    if (isDown) throw new Error('no database');
    onWrite(...args);
  };
  const work: typeof ourWork.run = async (...args) => (isOurs ? ourWork.run(...args) : []);
  reopen = new ReopenFinal(
    new SuspectBlocks(
      { orphaned: async () => stored } as unknown as BlockStore,
      new FindReorgedFinals(chains, txs.asRepository(), log),
      { onNewEpoch: () => undefined } as unknown as DatabaseWatch,
    ),
    txs.asRepository(),
    chains,
    new SecondObservations(new FakeClock()),
    {
      takeFree: async (signers: readonly SignerId[]) => void takenFree.push(...signers.map(signerKey)),
    } as unknown as LeaseManager,
    new ReopenTxs({ run: work } as unknown as LeasedWork, txs.asRepository(), txs.writes.asDoor(), metrics, log),
    {
      execute: async (_: unknown, from: number | null) => {
        if (isDown) throw new Error('no database');
        lowest.push(from);
      },
      isWaiting: () => slotsWait,
    } as unknown as ReopenNonces,
    fakeOf(CompareBooks, { onSameChain: async () => () => isSameChain }),
  );
});

/** The next blocks, and what they took back. */
async function follow(update: Partial<ChainUpdate> = {}): Promise<void> {
  await reopen.execute({ chainId: chain.chainId, head: chain.height, gap: false, blocks: [], orphaned: [], ...update });
}

function refOf(height: number): Block {
  const block = chain.blockAt(height);
  if (!block) throw new Error(`the chain has no block ${height}`);
  return block;
}

/** The newest blocks, lowest first, which then are gone. */
function reorg(depth: number): BlockRef[] {
  const gone = Array.from({ length: depth }, (_, n) => refOf(chain.height - depth + 1 + n));
  chain.reorg(depth, { drop: true });
  return gone;
}

const final = (nonce: bigint): string => txs.putFinal(chain, SIGNER, nonce);
const isWaiting = (): boolean => reopen.isWaiting(chain.chainId);
/** While this is so, the endpoints do not agree on what is at any height. */
const disagree = () => jest.spyOn(chain, 'agreedBlocks').mockImplementation(async (some) => some.map(() => null));

describe('a final tx in a block that is gone', () => {
  it('is open again with its slot and its attempts, under a lease that is taken if nobody has it', async () => {
    const [before, txId] = [final(0n), final(1n)];
    await follow({ orphaned: reorg(1) });
    expect([txs.of(before).state, txs.of(txId).state]).toEqual(['CONFIRMED', 'IN_MEMPOOL']);
    const slot = [{ nonce: 1n }];
    expect(txs.writes.written).toMatchObject([
      { changes: { slots: { reopened: slot }, attempts: { reopened: slot } } },
    ]);
    expect([takenFree, forks(), lowest]).toEqual([[signerKey(SIGNER)], 1, [2]]);
  });

  it('is open again also when the highest block that is gone has nothing of ours', async () => {
    const txId = final(0n);
    chain.mineEmpty(2);
    await follow({ orphaned: reorg(3) });
    expect([txs.of(txId).state, lowest]).toEqual(['IN_MEMPOOL', [1]]);
  });

  it('is open again when only another node followed the block', async () => {
    const txId = final(0n);
    stored = reorg(1);
    await follow();
    expect([txs.of(txId).state, lowest]).toEqual(['IN_MEMPOOL', [1]]);
  });

  it('is open again when the same update comes again after a failure', async () => {
    const txId = final(0n);
    stored = reorg(1);
    isDown = true;
    await expect(follow()).rejects.toThrow('no database');
    expect(txs.of(txId).state).toBe('CONFIRMED');
    isDown = false;
    await follow();
    expect(txs.of(txId).state).toBe('IN_MEMPOOL');
  });

  it('is looked at with every block until whoever has its lease has opened it', async () => {
    const txId = final(0n);
    isOurs = false;
    await follow({ orphaned: reorg(1) });
    expect([txs.of(txId).state, isWaiting()]).toEqual(['CONFIRMED', true]);
    isOurs = true;
    await follow();
    expect(txs.of(txId).state).toBe('IN_MEMPOOL');
    await follow();
    expect([isWaiting(), txs.saved]).toEqual([false, [txId]]);
  });

  it('is looked at with every block until the endpoints agree on what is there', async () => {
    const txId = final(0n);
    const doubt = disagree();
    await follow({ orphaned: reorg(1) });
    expect([txs.of(txId).state, isWaiting(), takenFree]).toEqual(['CONFIRMED', true, []]);
    doubt.mockRestore();
    await follow();
    expect(txs.of(txId).state).toBe('IN_MEMPOOL');
  });

  it('is looked at with every block again once its chain is back', async () => {
    const txId = final(0n);
    isSameChain = false;
    const [first, second] = [reorg(1), reorg(1)];
    await follow({ orphaned: first });
    isSameChain = true;
    const doubt = disagree();
    await follow({ orphaned: second });
    doubt.mockRestore();
    await follow();
    expect(txs.of(txId).state).toBe('IN_MEMPOOL');
  });

  it('needs a second look, at a later block, when one endpoint alone tells it: each height its own', async () => {
    const txIds = [final(0n), final(1n)];
    const states = (): string[] => txIds.map((txId) => txs.of(txId).state);
    chain.speaksAlone = true;
    await follow({ orphaned: reorg(2) });
    await follow();
    expect([states(), isWaiting()]).toEqual([['CONFIRMED', 'CONFIRMED'], true]);
    chain.mineEmpty(1);
    await follow();
    expect(states()).toEqual(['IN_MEMPOOL', 'IN_MEMPOOL']);
  });
});

describe('a final tx stays final', () => {
  it('in a block that the endpoints still have, which is no suspect any more', async () => {
    const txId = final(0n);
    await follow({ orphaned: [refOf(1)] });
    expect([txs.of(txId).state, isWaiting(), takenFree]).toEqual(['CONFIRMED', false, []]);
  });

  it('in a block that is followed again', async () => {
    const txId = final(0n);
    const doubt = disagree();
    const block = refOf(1);
    await follow({ orphaned: reorg(1) });
    await follow({ blocks: [block] });
    doubt.mockRestore();
    await follow();
    expect([txs.of(txId).state, isWaiting()]).toEqual(['CONFIRMED', false]);
  });

  it('only as long as its block is followed: not when the update that has it back fails, and never comes again', async () => {
    const txId = final(0n);
    const doubt = disagree();
    const block = refOf(1);
    await follow({ orphaned: reorg(1) });
    isDown = true;
    await expect(follow({ blocks: [block] })).rejects.toThrow('no database');
    isDown = false;
    doubt.mockRestore();
    await follow();
    expect(txs.of(txId).state).toBe('IN_MEMPOOL');
  });

  it('that was mined and became final in another block meanwhile', async () => {
    const txId = final(0n);
    const { finalIn } = txs;
    const orphaned = reorg(1);
    txs.finalIn = async (...args) => {
      const found = await finalIn.apply(txs, args);
      txs.putFinal(chain, SIGNER, 0n);
      return found;
    };
    await follow({ orphaned });
    expect([txs.of(txId).state, txs.saved, forks()]).toEqual(['CONFIRMED', [], 0]);
  });
});

describe('blocks that are gone', () => {
  it('and were dealt with are no news when they are read from the database again', async () => {
    final(0n);
    const orphaned = reorg(1);
    await follow({ orphaned });
    stored = orphaned;
    await follow();
    const questions = [jest.spyOn(chain, 'blocks'), jest.spyOn(chain, 'agreedBlocks'), jest.spyOn(txs, 'finalIn')];
    await follow();
    expect(questions.map(({ mock }) => mock.calls.length)).toEqual([0, 0, 0]);
    expect(lowest).toEqual([1, null, null]);
    expect(isWaiting()).toBe(false);
  });

  it.each([
    ['that another node followed', (gone: BlockRef) => void (stored = [gone])],
    ['that are all that was followed', (gone: BlockRef) => ({ gap: true, orphaned: [gone] })],
  ])('have what was final below them looked at: those %s', async (_words, tell) => {
    const txId = final(0n);
    chain.mineEmpty(1);
    const newest = refOf(2);
    reorg(2);
    await follow(tell(newest) ?? {});
    expect(txs.of(txId).state).toBe('IN_MEMPOOL');
  });

  it('cost no question for what was final below them when they are all known', async () => {
    final(0n);
    chain.mineEmpty(1);
    const blocks = jest.spyOn(chain, 'blocks');
    // Another node has stored them already.
    stored = reorg(1);
    await follow({ orphaned: stored });
    expect(blocks).not.toHaveBeenCalled();
  });

  it('are none after a gap without any', async () => {
    final(0n);
    const blocks = jest.spyOn(chain, 'blocks');
    await follow({ gap: true });
    expect(blocks).not.toHaveBeenCalled();
    expect(lowest).toEqual([null]);
  });
});

describe('a chain is to be followed on', () => {
  it('while slots without a tx are to be looked at again', () => {
    expect(isWaiting()).toBe(false);
    slotsWait = true;
    expect(isWaiting()).toBe(true);
  });

  it('while it is not known what is on the chain below the blocks that were followed', async () => {
    final(0n);
    chain.mineEmpty(1);
    const blocks = jest.spyOn(chain, 'blocks').mockImplementation(async (some) => some.map(() => null));
    await follow({ gap: true, orphaned: reorg(1) });
    expect(isWaiting()).toBe(true);
    blocks.mockRestore();
    await follow();
    expect(isWaiting()).toBe(false);
  });
});
