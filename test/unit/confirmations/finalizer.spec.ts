import { VerifiedReceipts } from '../../../src/modules/chain/application/verified-receipts.js';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Hash } from '../../../src/kernel/hex.js';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import type { BlockRef, FinalHeights, FinalityRule, HeadTracker, Receipt } from '../../../src/modules/chain/index.js';
import { byDepth } from '../../../src/modules/chain/domain/final-heights.js';
import { Finalizer } from '../../../src/modules/confirmations/application/finalizer.js';
import type { Settlement, SettleTxs } from '../../../src/modules/confirmations/application/settle-txs.js';
import type { LeaseManager } from '../../../src/modules/signers/index.js';
import type { ManagedTx } from '../../../src/modules/ledger/index.js';
import { aHash, aManagedTx, aReceipt, aSigner } from '../../support/builders.js';
import { ModelChain, ModelChains } from '../../support/model-chain.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { TxsInMemory } from './txs-in-memory.js';

const SIGNER = aSigner();
/** Txs that one look decides at once. */
const BATCH = 1_000;

let chain: ModelChain;
let txs: TxsInMemory;
/** Whose leases this node has. */
let held: SignerId[];
/** Up to where txs are final now. */
let upTo: (head: number) => FinalHeights | null;
/** Whether it costs a call to say which heights are final, and heads for which that was asked. */
let asksTheChain: boolean;
let heightsOf: number[];
/** The newest block that the endpoints agree on, and how often they were asked for that. */
let agreedHead: (head: number) => BlockRef | null;
let agreements: number;
let log: RecordingLog;
/** Of whom it was asked what is deep enough. */
let askedFor: unknown[];
/** The followed blocks, by height. */
let followed: Map<number, Hash>;
/** What was settled: the verdict of each tx, and the head. */
let verdicts: Map<string, string>;
let heads: Settlement['head'][];
/** Of what is settled at once, how many are decided. */
let decides: (some: readonly ManagedTx[]) => number;
/** Where each look began. */
let starts: number[];
let finalizer: Finalizer;

beforeEach(() => {
  [chain, txs, held] = [new ModelChain(), new TxsInMemory(), [SIGNER]];
  upTo = (head) => byDepth(head, 0);
  [asksTheChain, heightsOf, agreements, log] = [false, [], 0, new RecordingLog()];
  agreedHead = followedAt;
  [followed, verdicts, heads, starts] = [new Map([[0, chain.blockAt(0)?.hash ?? aHash(0)]]), new Map(), [], []];
  decides = (some) => some.length;
  const { minedUpTo } = txs;
  askedFor = [];
  txs.minedUpTo = async (...args) => {
    askedFor.push(args[1]);
    if (args[3].limit === BATCH) starts.push(args[3].skip);
    return minedUpTo.apply(txs, args);
  };
  finalizer = new Finalizer(
    { heldOn: () => held.map((signer) => ({ signer })) } as unknown as LeaseManager,
    Object.assign(txs, { anyMined: async () => txs.states().includes('MINED') }).asRepository(),
    new ModelChains(chain),
    { hashAt: (_: unknown, number: number) => followed.get(number) ?? null } as unknown as HeadTracker,
    {
      asksTheChain: () => asksTheChain,
      heights: async (_: unknown, head: number) => {
        heightsOf.push(head);
        return upTo(head);
      },
      agreedHead: async (_: unknown, head: number) => {
        agreements += 1;
        return agreedHead(head);
      },
    } as unknown as FinalityRule,
    new VerifiedReceipts(log),
    { execute: settle } as unknown as SettleTxs,
    log,
  );
});

async function settle(_: unknown, some: readonly ManagedTx[], { head, verdictOf }: Settlement): Promise<number> {
  heads.push(head);
  for (const { id, progress } of some) if (progress.receipt) verdicts.set(id, verdictOf(progress.receipt));
  return decides(some);
}

/** A tx that is mined in the next block, which is canonical, and MINED with its receipt, or with another one. */
function mined(overrides: Partial<Receipt> = {}): string {
  const nonce = BigInt(chain.minedTxs().length);
  const { hash: txHash } = chain.sendForeign(SIGNER.address, nonce);
  const { hash: blockHash, number: blockNumber } = chain.mine();
  followed.set(blockNumber, blockHash);
  const txId = `tx-${nonce}`;
  const receipt = { txHash, blockHash, blockNumber, ...overrides };
  txs.put(aManagedTx({ txId }).allocated(nonce).sent().mined(receipt).build());
  return txId;
}

/** So many MINED txs, all in one block. */
function minedCrowd(count: number): void {
  const receipt = aReceipt({ blockNumber: 0, blockHash: chain.blockAt(0)?.hash ?? aHash(0) });
  for (let n = 0; n < count; n += 1) {
    const tx = aManagedTx({ txId: `tx-${n}` }).allocated(BigInt(n));
    txs.put(
      tx
        .sent()
        .mined({ ...receipt, txHash: aHash(n) })
        .build(),
    );
  }
}

const look = (): Promise<SignerId[]> => finalizer.finalize(chain.chainId, chain.height);

function followedAt(number: number): BlockRef | null {
  const hash = followed.get(number);
  return hash === undefined ? null : { number, hash };
}

function mineEmpty(count: number): void {
  for (let n = 0; n < count; n += 1) {
    const { number, hash } = chain.mine();
    followed.set(number, hash);
  }
}

/** The first block was not followed, and no endpoint has it. */
function forgetFirst(): void {
  mineEmpty(1);
  followed.delete(1);
  chain.blocks = async (numbers) => numbers.map(() => null);
}

describe('what is deep enough', () => {
  it('is final when its block is canonical, and its receipt is read again', async () => {
    const txId = mined();
    await look();
    expect([...verdicts]).toEqual([[txId, 'final']]);
    expect(heads).toEqual([{ number: 1, hash: chain.blockAt(1)?.hash }]);
  });

  it('is gone when another block has its place, although its receipt cannot be read', async () => {
    const txId = mined();
    followed.set(1, aHash(0xdead));
    chain.faults.receipt = () => ({ kind: 'unavailable', message: 'no answer' });
    await look();
    expect([...verdicts]).toEqual([[txId, 'gone']]);
  });

  it('is gone when the chain has it in another block than its receipt says', async () => {
    const txId = mined({ blockHash: aHash(0xdead) });
    await look();
    expect([...verdicts]).toEqual([[txId, 'gone']]);
  });

  it('is gone when the chain says that it is in no block, also while the block at its height is not known', async () => {
    const txId = mined();
    forgetFirst();
    chain.faults.receipt = () => ({ kind: 'none' });
    await look();
    expect([...verdicts]).toEqual([[txId, 'gone']]);
  });

  it('has changed when its receipt says something else by now', async () => {
    const txId = mined({ status: 'reverted' });
    await look();
    expect([...verdicts]).toEqual([[txId, 'changed']]);
  });

  it('is not decided when the block at its height is not known', async () => {
    const txId = mined();
    forgetFirst();
    await look();
    expect([...verdicts]).toEqual([[txId, 'open']]);
  });

  it('is not decided when its receipt cannot be read again', async () => {
    const txId = mined();
    chain.faults.receipt = () => ({ kind: 'unavailable', message: 'no answer' });
    await look();
    expect([...verdicts]).toEqual([[txId, 'open']]);
  });

  it('is what is proven to be final for this node’s signers, and nothing above it', async () => {
    const [deep] = [mined(), mined()];
    upTo = (head) => byDepth(head, 1);
    await look();
    expect([[...verdicts.keys()], askedFor]).toEqual([[deep], [[SIGNER], [SIGNER]]]);
  });

  it('is final when its block was not followed and the chain has it, which costs one call for all such blocks', async () => {
    const blocks = jest.spyOn(chain, 'blocks');
    const [first, second] = [mined(), mined()];
    mineEmpty(1);
    await look();
    expect(blocks).not.toHaveBeenCalled();
    [followed, verdicts] = [new Map([[3, followed.get(3) ?? aHash(0)]]), new Map()];
    await look();
    expect([[...verdicts], blocks.mock.calls]).toEqual([
      [
        [first, 'final'],
        [second, 'final'],
      ],
      [[[1, 2]]],
    ]);
  });
});

describe('nothing is read', () => {
  it('while nothing is proven to be final', async () => {
    mined();
    upTo = () => null;
    await look();
    expect([starts, heads]).toEqual([[], []]);
  });

  it('on a chain on which this node has no lease', async () => {
    mined();
    held = [];
    await look();
    expect([heightsOf, askedFor]).toEqual([[], []]);
  });
});

describe('up to which height txs are final', () => {
  const DEPTH = 2;
  const HEAD = 9;
  /** Asked of the txs that are deep enough. */
  let asked: FinalHeights[];

  beforeEach(() => {
    mineEmpty(HEAD);
    upTo = (head) => byDepth(head, DEPTH);
    asked = [];
    const { minedUpTo } = txs;
    txs.minedUpTo = async (...args) => {
      if (args[3].limit === BATCH) asked.push(args[2]);
      return minedUpTo.apply(txs, args);
    };
  });

  function minedAt(blockNumber: number): void {
    txs.put(aManagedTx().allocated(0n).sent().mined({ blockNumber }).build());
  }

  it('is counted from the followed head, when the endpoints agree on it', async () => {
    minedAt(HEAD - DEPTH);
    await look();
    expect([asked, heightsOf]).toEqual([[byDepth(HEAD, DEPTH)], [HEAD]]);
  });

  it('is counted from the newest block that the endpoints agree on', async () => {
    minedAt(1);
    agreedHead = (head) => followedAt(head - 1);
    await look();
    expect(asked).toEqual([byDepth(HEAD - 1, DEPTH)]);
  });

  it.each([
    ['agree on another branch than this node follows', (number: number) => ({ number, hash: aHash(0xdead) })],
    ['agree on nothing, or one alone said it only once', () => null],
  ])('is not known while the endpoints %s, and that is logged', async (_words, agreed) => {
    minedAt(1);
    agreedHead = agreed;
    await look();
    expect(asked).toEqual([]);
    expect(log.lines).toMatchObject([{ fields: { chainId: chain.chainId, head: HEAD } }]);
  });

  it('is not known while the chain does not answer for its tag', async () => {
    minedAt(1);
    upTo = () => null;
    await look();
    expect([asked, agreements]).toEqual([[], 0]);
  });

  it('is not asked of the endpoints while nothing is deep enough', async () => {
    minedAt(HEAD - DEPTH + 1);
    await look();
    expect([asked, agreements, log.lines]).toEqual([[], 0, []]);
  });

  it('is not asked for by tag while the chain has nothing MINED', async () => {
    asksTheChain = true;
    await look();
    expect(heightsOf).toEqual([]);
    minedAt(1);
    await look();
    expect([asked, heightsOf]).toEqual([[byDepth(HEAD, DEPTH)], [HEAD]]);
  });
});

describe('many at once', () => {
  it('are all settled: one look goes on while it decides all that it takes at once', async () => {
    minedCrowd(2 * BATCH + 1);
    decides = (some) => {
      for (const { id } of some) txs.put(aManagedTx({ txId: id }).build());
      return some.length;
    };
    await look();
    expect(verdicts.size).toBe(2 * BATCH + 1);
    expect(starts).toEqual([0, 0, 0]);
  });

  it('that cannot be decided hold up nobody: each look begins behind those of the looks before, and then at the first', async () => {
    minedCrowd(2 * BATCH + 500);
    decides = () => 0;
    for (let times = 0; times < 4; times += 1) await look();
    expect(starts).toEqual([0, BATCH, 2 * BATCH, 0]);
  });

  it('of which some were decided are left behind by as many as were not', async () => {
    minedCrowd(2 * BATCH);
    decides = () => 300;
    for (let times = 0; times < 2; times += 1) await look();
    expect(starts).toEqual([0, BATCH - 300]);
  });
});

describe('a block that is gone', () => {
  const undo = (...blocks: readonly Hash[]): Promise<void> => finalizer.undo(chain.chainId, blocks);

  it('takes back what was mined in it, and nothing else', async () => {
    const [, gone] = [mined(), mined()];
    await undo(followed.get(2) ?? aHash(0));
    expect([[...verdicts], heads]).toEqual([[[gone, 'gone']], [null]]);
  });

  it('takes back nothing that is in another block when it is read again', async () => {
    mined();
    const moved = aManagedTx({ txId: 'moved' })
      .allocated(9n)
      .sent()
      .mined({ blockHash: aHash(0xdead) });
    txs.minedIn = async () => [moved.build()];
    await undo(followed.get(1) ?? aHash(0));
    expect([...verdicts]).toEqual([['moved', 'open']]);
  });

  it('is none without a reorg, or without a lease', async () => {
    mined();
    await undo();
    held = [];
    await undo(followed.get(1) ?? aHash(0));
    expect(heads).toEqual([]);
  });
});
