import { beforeEach, describe, expect, it } from '@jest/globals';
import type { BlockRef, FinalityRule, HeadTracker, Receipt } from '../../../src/modules/chain/index.js';
import { ReadReceipts } from '../../../src/modules/confirmations/application/read-receipts.js';
import type { ReceiptMetrics } from '../../../src/modules/confirmations/application/receipt-metrics.js';
import { Finalizer } from '../../../src/modules/confirmations/application/finalizer.js';
import type { LeaseManager, NonceLedger, SlotRef } from '../../../src/modules/signers/index.js';
import { byDepth } from '../../../src/modules/chain/domain/final-heights.js';
import type {
  AttemptRepository,
  LeasedWork,
  ManagedTx,
  ManagedTxRepository,
  TxMetrics,
} from '../../../src/modules/transactions/index.js';
import { aHash, aManagedTx, aReceipt, aSigner } from '../../support/builders.js';
import { UnfencedWork } from '../../support/fakes/unfenced-work.js';
import { ModelChain, ModelChains } from '../../support/model-chain.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { ourWork, TxsInMemory } from './txs-in-memory.js';

const SIGNER = aSigner();
const DEPTH = 2;
/** Txs that one look decides at once. */
const BATCH = 1_000;

let chain: ModelChain;
let txs: TxsInMemory;
/** The lowest block that this node has followed. */
let followedFrom: number;
/** Blocks on top that make a tx final. */
let depth: number;
/** The newest block that the endpoints agree on. */
let agreedHead: (head: number) => BlockRef | null;
let consumed: bigint[];
let reopened: bigint[];
let forks: number;
let entered: string[];
let settle: Finalizer;

beforeEach(() => {
  chain = new ModelChain();
  txs = new TxsInMemory();
  followedFrom = 0;
  depth = DEPTH;
  agreedHead = (head) => chain.blockAt(head);
  [consumed, reopened, forks, entered] = [[], [], 0, []];
  settle = settler(txs.asRepository());
});

function settler(repository: ManagedTxRepository, work: LeasedWork = ourWork): Finalizer {
  const log = new RecordingLog();
  return new Finalizer(
    new ModelChains(chain),
    {
      hashAt: (_: unknown, n: number) => (n < followedFrom ? null : (chain.blockAt(n)?.hash ?? null)),
    } as unknown as HeadTracker,
    { heldOn: () => [{ signer: SIGNER }] } as unknown as LeaseManager,
    work,
    new UnfencedWork(),
    repository,
    {
      reopen: async (_: unknown, slots: readonly SlotRef[]) => void reopened.push(...slots.map(({ nonce }) => nonce)),
    } as unknown as AttemptRepository,
    {
      consume: async (_: unknown, slots: readonly SlotRef[]) => void consumed.push(...slots.map(({ nonce }) => nonce)),
    } as unknown as NonceLedger,
    {
      asksTheChain: () => false,
      heights: async (_: unknown, head: number) => byDepth(head, depth),
      agreedHead: async (_: unknown, head: number) => agreedHead(head),
    } as unknown as FinalityRule,
    {
      entered: (some: readonly ManagedTx[]) => void entered.push(...some.map(({ state }) => state)),
    } as unknown as TxMetrics,
    { newFork: (count: number) => void (forks += count) } as unknown as ReceiptMetrics,
    new ReadReceipts(log),
    log,
  );
}

/** A tx that is mined in the next block, and MINED with its receipt, or with another one. */
async function mined(overrides: Partial<Receipt> = {}): Promise<string> {
  const nonce = BigInt(chain.minedTxs().length);
  const { hash } = chain.sendForeign(SIGNER.address, nonce);
  const block = chain.mine();
  const receipt = aReceipt({ txHash: hash, blockHash: block.hash, blockNumber: block.number, ...overrides });
  const txId = `tx-${nonce}`;
  txs.put(aManagedTx({ txId }).allocated(nonce).sent().mined(receipt).build());
  return txId;
}

async function look(): Promise<void> {
  await settle.execute(chain.chainId, chain.height);
}

/** As many as are asked for, all in one block that this node followed. */
function minedCrowd(count: number, overrides: Partial<Receipt> = {}): void {
  const hashes = Array.from({ length: count }, (_, n) => chain.sendForeign(SIGNER.address, BigInt(n)).hash);
  const block = chain.mine();
  for (const [n, txHash] of hashes.entries()) {
    const receipt = { txHash, blockHash: block.hash, blockNumber: block.number, ...overrides };
    txs.put(
      aManagedTx({ txId: `tx-${n}` })
        .allocated(BigInt(n))
        .sent()
        .mined(receipt)
        .build(),
    );
  }
}

it('a look begins behind all that the looks before could not decide, and again with the first after the last', async () => {
  /** Nothing of them can be decided, whatever the look. */
  const waiting = Array.from({ length: 2_500 }, () => ({ progress: { receipt: null } }));
  const first: number[] = [];
  const minedUpTo = async (
    _chain: unknown,
    _signers: unknown,
    _upTo: unknown,
    page: { skip: number; limit: number },
  ) => {
    if (page.limit > 1) first.push(page.skip);
    return waiting.slice(page.skip, page.skip + page.limit);
  };
  settle = settler({ minedUpTo } as unknown as ManagedTxRepository, { run: async () => [] } as unknown as LeasedWork);
  for (let times = 0; times < 4; times += 1) await look();
  expect(first).toEqual([0, 1_000, 2_000, 0]);
});

describe('what is deep enough', () => {
  it('is final, however many there are: one look goes on while it decides all that it takes at once', async () => {
    minedCrowd(2 * BATCH + 1);
    chain.mineEmpty(DEPTH);
    await look();
    expect(new Set(txs.states())).toEqual(new Set(['CONFIRMED']));
    expect(consumed).toHaveLength(2 * BATCH + 1);
    expect(entered).toHaveLength(2 * BATCH + 1);
  });

  it('is final although as many before it are gone as one look takes at once', async () => {
    minedCrowd(BATCH, { blockHash: aHash(0xdead) });
    const txId = await mined();
    chain.mineEmpty(DEPTH);
    await look();
    expect(txs.of(txId).state).toBe('CONFIRMED');
    expect(forks).toBe(BATCH);
  });

  it('is final also when it was mined before this node followed the chain', async () => {
    await mined();
    chain.mineEmpty(DEPTH);
    followedFrom = chain.height;
    await look();
    expect(txs.states()).toEqual(['CONFIRMED']);
  });

  it('is back in the mempool when another block has its place, also from before this node followed the chain', async () => {
    const txId = await mined({ blockHash: aHash(0xdead) });
    chain.mineEmpty(DEPTH);
    followedFrom = chain.height;
    await look();
    expect(txs.of(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'REORG_DETECTED', receipt: null });
    expect([reopened, consumed, forks, entered]).toEqual([[0n], [], 1, ['IN_MEMPOOL']]);
  });

  it('is back in the mempool when another block has its place, although its receipt cannot be read', async () => {
    await mined({ blockHash: aHash(0xdead) });
    chain.mineEmpty(DEPTH);
    chain.faults.receipt = () => ({ kind: 'unavailable', message: 'no answer' });
    await look();
    expect(txs.states()).toEqual(['IN_MEMPOOL']);
  });

  it('is not decided when the endpoints agree on another branch than this node follows', async () => {
    await mined();
    chain.mineEmpty(DEPTH);
    agreedHead = (number) => ({ number, hash: aHash(0xdead) });
    await look();
    expect(txs.states()).toEqual(['MINED']);
  });

  it('is counted from the newest block that the endpoints agree on', async () => {
    await mined();
    chain.mineEmpty(DEPTH);
    agreedHead = (head) => chain.blockAt(head - 1);
    await look();
    expect(txs.states()).toEqual(['MINED']);
    chain.mineEmpty(1);
    await look();
    expect(txs.states()).toEqual(['CONFIRMED']);
  });

  it.each([
    ['the blocks on top of its own', 2, () => ({ from: 2, to: 3, hash: chain.blockAt(3)?.hash })],
    ['no block when there is none on top', 0, () => null],
  ])('is told as final with %s', async (_words, required, confirmations) => {
    depth = required;
    await mined();
    chain.mineEmpty(required);
    await look();
    expect(txs.events).toMatchObject([{ reason: 'confirmed', detail: { confirmations: confirmations() } }]);
  });

  it('is not decided when no node has the block at its height', async () => {
    await mined();
    chain.mineEmpty(DEPTH);
    followedFrom = chain.height;
    chain.blocks = async (numbers) => numbers.map(() => null);
    await look();
    expect(txs.states()).toEqual(['MINED']);
  });

  it('is not decided when its receipt cannot be read again', async () => {
    await mined();
    chain.mineEmpty(DEPTH);
    chain.faults.receipt = () => ({ kind: 'unavailable', message: 'no answer' });
    await look();
    expect([txs.states(), txs.saved]).toEqual([['MINED'], []]);
  });

  it('has the newer receipt when two differ, and is final with it at the next look', async () => {
    const txId = await mined({ status: 'reverted' });
    chain.mineEmpty(DEPTH);
    await look();
    expect(txs.of(txId)).toMatchObject({ state: 'MINED', receipt: { status: 'success' } });
    expect([consumed, entered]).toEqual([[], []]);
    await look();
    expect(txs.of(txId)).toMatchObject({ state: 'CONFIRMED', failureReason: null });
  });

  it('is left alone when the lane moved it meanwhile', async () => {
    const txId = await mined();
    chain.mineEmpty(DEPTH);
    const blockReceipts = chain.receipts.bind(chain);
    chain.receipts = async (hashes) => {
      txs.put(aManagedTx({ txId }).allocated(0n).sent().build());
      return blockReceipts(hashes);
    };
    await look();
    expect([txs.states(), txs.saved]).toEqual([['IN_MEMPOOL'], []]);
  });
});

describe('a block that is gone', () => {
  const undo = (...blocks: readonly number[]): Promise<void> =>
    settle.undo(
      chain.chainId,
      blocks.flatMap((number) => chain.blockAt(number)?.hash ?? []),
    );

  it('takes back what was mined in it, and nothing else', async () => {
    const [before, gone] = [await mined(), await mined()];
    await undo(2);
    expect([txs.of(before).state, txs.of(gone).state]).toEqual(['MINED', 'IN_MEMPOOL']);
    expect([reopened, forks, entered]).toEqual([[1n], 1, ['IN_MEMPOOL']]);
  });

  it.each([
    ['became final meanwhile', 'CONFIRMED', (txId: string) => final(txId)],
    ['is in another block by now', 'MINED', (txId: string) => elsewhere(txId)],
  ])('takes back nothing that %s', async (_words, state, moves) => {
    const txId = await mined();
    const { minedIn } = txs;
    txs.minedIn = async (...args) => {
      const found = await minedIn.apply(txs, args);
      txs.put(moves(txId));
      return found;
    };
    await undo(1);
    expect([txs.of(txId).state, txs.saved, forks]).toEqual([state, [], 0]);
  });
});

function final(txId: string): ManagedTx {
  const { receipt } = txs.of(txId);
  const tx = aManagedTx({ txId })
    .allocated(0n)
    .sent()
    .mined(receipt ?? {})
    .build();
  tx.settled('reverted', null);
  return tx;
}

function elsewhere(txId: string): ManagedTx {
  return aManagedTx({ txId })
    .allocated(0n)
    .sent()
    .mined({ blockHash: aHash(0xdead) })
    .build();
}
