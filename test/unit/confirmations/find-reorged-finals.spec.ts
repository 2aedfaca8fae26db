import { beforeEach, describe, expect, it } from '@jest/globals';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import { RpcUnavailable } from '../../../src/modules/chain/index.js';
import { FindReorgedFinals } from '../../../src/modules/confirmations/application/find-reorged-finals.js';
import { aSigner } from '../../support/builders.js';
import { ModelChain, ModelChains } from '../../support/model-chain.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { TxsInMemory } from './txs-in-memory.js';

const OURS = aSigner(1);
const OTHER = aSigner(2);
/** Looks with which what was not known is looked at again. */
const PATIENCE = 30;

let chain: ModelChain;
let txs: TxsInMemory;
let finals: FindReorgedFinals;
/** Heights that the chain was asked for, a list for each question. */
let asked: (readonly number[])[];
/** Heights of which no node has the block. */
let pruned: (height: number) => boolean;

beforeEach(() => {
  chain = new ModelChain();
  txs = new TxsInMemory();
  asked = [];
  pruned = () => false;
  const honest = chain.blocks.bind(chain);
  chain.blocks = async (numbers) => {
    asked.push(numbers);
    return (await honest(numbers)).map((block) => (block && pruned(block.number) ? null : block));
  };
  finals = new FindReorgedFinals(new ModelChains(chain), txs.asRepository(), new RecordingLog());
});

function finalTxs(signer: SignerId, count: number): void {
  for (let nonce = 0n; nonce < count; nonce += 1n) txs.putFinal(chain, signer, nonce);
}

/** Heights of the blocks that are found to be gone, lowest first. */
async function gone(isSuspected = true): Promise<number[]> {
  const search = await finals.execute(chain.chainId, isSuspected);
  search.keep();
  return search.gone.map(({ number }) => number).sort((a, b) => a - b);
}

const heights = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, n) => from + n);

describe('blocks with final txs that a reorg took back', () => {
  it.each([
    [41, heights(61, 101), [[101], [100, 51], [50, 1]]],
    [1, [101], [[101], [100, 51]]],
  ])(
    'are all found, without a question for what is below a call of which all are right: %s',
    async (depth, found, calls) => {
      finalTxs(OURS, 101);
      chain.reorg(depth, { drop: true });
      expect(await gone()).toEqual(found);
      expect(asked.map((numbers) => [...new Set([Math.max(...numbers), Math.min(...numbers)])])).toEqual(calls);
      expect(finals.isWaiting(chain.chainId)).toBe(false);
    },
  );

  it('are all found over several pages of one signer', async () => {
    finalTxs(OURS, 230);
    chain.reorg(225, { drop: true });
    expect(await gone()).toEqual(heights(6, 230));
  });

  it('are found of each signer, and who has its newest tx on the chain is not read further', async () => {
    finalTxs(OTHER, 3);
    finalTxs(OURS, 3);
    chain.reorg(2, { drop: true });
    expect(await gone()).toEqual([5, 6]);
    expect(new Set(asked.flat())).toEqual(new Set([6, 3, 5, 4]));
  });

  it('are found below the one of another signer that is final again on the new branch', async () => {
    finalTxs(OURS, 2);
    chain.reorg(2, { drop: true });
    finalTxs(OTHER, 1);
    expect(await gone()).toEqual([1, 2]);
  });

  it('are not looked for below one that is on the chain, where a node has no older blocks', async () => {
    finalTxs(OURS, 3);
    finalTxs(OTHER, 3);
    pruned = (height) => height < 5;
    expect(await gone()).toEqual([]);
    expect(asked).toEqual([[6, 3]]);
    expect(finals.isWaiting(chain.chainId)).toBe(false);
  });

  it('are found below one that no node has', async () => {
    finalTxs(OURS, 3);
    chain.reorg(2, { drop: true });
    pruned = (height) => height === 3;
    expect(await gone()).toEqual([2]);
    expect(finals.isWaiting(chain.chainId)).toBe(true);
  });

  it('are none when the newest is on the chain, or when nothing is final', async () => {
    expect(await gone()).toEqual([]);
    finalTxs(OURS, 3);
    finalTxs(OTHER, 3);
    expect(await gone()).toEqual([]);
    expect(asked).toEqual([[6, 3]]);
  });

  it('are not looked for without a suspicion', async () => {
    finalTxs(OURS, 3);
    chain.reorg(2);
    expect(await gone(false)).toEqual([]);
    expect(asked).toEqual([]);
  });
});

describe('what no node tells', () => {
  beforeEach(() => {
    finalTxs(OURS, 3);
    chain.reorg(2);
  });

  it('is looked at again with the next block, and no more once it is known', async () => {
    const honest = chain.blocks;
    chain.blocks = () =>
      Promise.reject(new RpcUnavailable('rpc_unavailable', { chainId: chain.chainId, method: 'eth_getBlock' }, 'no'));
    expect(await gone()).toEqual([]);
    expect(finals.isWaiting(chain.chainId)).toBe(true);
    chain.blocks = honest;
    expect(await gone(false)).toEqual([2, 3]);
    expect(finals.isWaiting(chain.chainId)).toBe(false);
    expect(await gone(false)).toEqual([]);
  });

  it('is searched again when what was found could not be dealt with', async () => {
    pruned = () => true;
    await gone();
    pruned = () => false;
    expect((await finals.execute(chain.chainId, false)).gone).toHaveLength(2);
    expect(await gone(false)).toEqual([2, 3]);
  });

  it('is not searched to its end: a node without old blocks would be asked for each of them', async () => {
    finalTxs(OTHER, 250);
    pruned = () => true;
    expect(await gone()).toEqual([]);
    expect(asked.flat()).toHaveLength(2 + 2 + 100);
  });

  it('is looked at so many times, and then no more', async () => {
    pruned = () => true;
    await gone();
    for (let looks = 1; looks < PATIENCE; looks += 1) {
      expect(finals.isWaiting(chain.chainId)).toBe(true);
      await gone(false);
    }
    expect(finals.isWaiting(chain.chainId)).toBe(false);
    const questions = asked.length;
    await gone(false);
    expect(asked).toHaveLength(questions);
  });

  it('is looked at as many times again after another reorg', async () => {
    pruned = () => true;
    await gone();
    for (let looks = 2; looks < PATIENCE; looks += 1) await gone(false);
    await gone();
    await gone(false);
    expect(finals.isWaiting(chain.chainId)).toBe(true);
  });
});
