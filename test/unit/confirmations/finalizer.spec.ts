import { VerifiedReceipts } from '../../../src/modules/chain/application/verified-receipts.js';
import { FinalityEvidence } from '../../../src/modules/confirmations/application/finality-evidence.js';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Hash } from '../../../src/kernel/hex.js';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import type { FinalHeights, Receipt } from '../../../src/modules/chain/index.js';
import { byDepth } from '../../../src/modules/chain/domain/final-heights.js';
import type { CanonicalBlocks } from '../../../src/modules/confirmations/application/canonical-blocks.js';
import { Finalizer } from '../../../src/modules/confirmations/application/finalizer.js';
import type { ProvenFinality } from '../../../src/modules/confirmations/application/proven-finality.js';
import type { Settlement, SettleTxs } from '../../../src/modules/confirmations/application/settle-txs.js';
import type { LeaseManager } from '../../../src/modules/signers/index.js';
import type { ManagedTx } from '../../../src/modules/transactions/index.js';
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
/** Of whom that was asked. */
let askedFor: (readonly SignerId[])[];
/** The canonical blocks that are known, by height. */
let canonical: Map<number, Hash>;
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
  [askedFor, canonical, verdicts, heads, starts] = [[], new Map(), new Map(), [], []];
  decides = (some) => some.length;
  const { minedUpTo } = txs;
  txs.minedUpTo = async (...args) => {
    starts.push(args[3].skip);
    return minedUpTo.apply(txs, args);
  };
  finalizer = new Finalizer(
    { heldOn: () => held.map((signer) => ({ signer })) } as unknown as LeaseManager,
    txs.asRepository(),
    {
      execute: async (_: unknown, signers: readonly SignerId[], head: number) => {
        askedFor.push(signers);
        return upTo(head);
      },
    } as unknown as ProvenFinality,
    new FinalityEvidence(
      new ModelChains(chain),
      {
        execute: async () => canonical,
        followed: (_: unknown, number: number) => ({ number, hash: chain.blockAt(number)?.hash }),
      } as unknown as CanonicalBlocks,
      new VerifiedReceipts(new RecordingLog()),
    ),
    { execute: settle } as unknown as SettleTxs,
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
  canonical.set(blockNumber, blockHash);
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

const look = (): Promise<void> => finalizer.execute(chain.chainId, chain.height);

describe('what is deep enough', () => {
  it('is final when its block is canonical, and its receipt is read again', async () => {
    const txId = mined();
    await look();
    expect([...verdicts]).toEqual([[txId, 'final']]);
    expect(heads).toEqual([{ number: 1, hash: chain.blockAt(1)?.hash }]);
  });

  it('is gone when another block has its place, although its receipt cannot be read', async () => {
    const txId = mined();
    canonical.set(1, aHash(0xdead));
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
    canonical.clear();
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
    canonical.clear();
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
    expect([[...verdicts.keys()], askedFor]).toEqual([[deep], [[SIGNER]]]);
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
    expect([askedFor, starts]).toEqual([[], []]);
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
    await undo(canonical.get(2) ?? aHash(0));
    expect([[...verdicts], heads]).toEqual([[[gone, 'gone']], [null]]);
  });

  it('takes back nothing that is in another block when it is read again', async () => {
    mined();
    const moved = aManagedTx({ txId: 'moved' })
      .allocated(9n)
      .sent()
      .mined({ blockHash: aHash(0xdead) });
    txs.minedIn = async () => [moved.build()];
    await undo(canonical.get(1) ?? aHash(0));
    expect([...verdicts]).toEqual([['moved', 'open']]);
  });

  it('is none without a reorg, or without a lease', async () => {
    mined();
    await undo();
    held = [];
    await undo(canonical.get(1) ?? aHash(0));
    expect(heads).toEqual([]);
  });
});
