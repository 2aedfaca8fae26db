import { describe, expect, it } from '@jest/globals';
import { AttemptRepository } from '../../src/modules/ledger/index.js';
import { parseHash } from '../../src/kernel/hex.js';
import type { AttemptView } from '../../src/modules/ledger/application/views/tx-views.js';
import { startHardhat } from '../support/hardhat.js';
import { onProxiedNode, type ProxiedStage } from '../support/on-proxied-node.js';

const GWEI = 1_000_000_000n;
/** `chains[].fees.maxFeePerGas` by default. */
const CAP = 5_000n * GWEI;
/** `resubmit.bumpAfterBlocks` and `resubmit.bumpDepth` by default. */
const [BUMP_AFTER, BUMP_DEPTH] = [5, 10];
const IN_FLIGHT = 64;

let lab: ProxiedStage['lab'];
let tag: number;

onProxiedNode(startHardhat, (stage) => ({ lab, tag } = stage));

/** Blocks with this base fee, each of which our node sees. */
async function blocksAt(baseFee: bigint, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    await lab.ask('hardhat_setNextBlockBaseFeePerGas', `0x${baseFee.toString(16)}`);
    await lab.mine();
    await lab.node.follow();
    await lab.ask('hardhat_setNextBlockBaseFeePerGas', `0x${baseFee.toString(16)}`);
    await lab.node.bump();
  }
}

const attemptsOf = (txIds: readonly string[]): Promise<AttemptView[][]> =>
  Promise.all(txIds.map((txId) => lab.attempts(txId)));

describe('the base fee rises tenfold while 64 txs of one signer are in flight', () => {
  it('only the lowest of them are bumped, within the caps, and all are CONFIRMED when blocks have room again', async () => {
    await blocksAt(10n * GWEI, 2);
    const tags = Array.from({ length: IN_FLIGHT }, (_, index) => tag + index);
    const txIds = await lab.sent(...tags);
    await blocksAt(100n * GWEI, BUMP_AFTER);
    const bumped = (await attemptsOf(txIds)).map((attempts) => attempts.length > 1);
    expect([bumped.slice(0, BUMP_DEPTH), bumped.slice(BUMP_DEPTH)]).toEqual([
      new Array(BUMP_DEPTH).fill(true),
      new Array(IN_FLIGHT - BUMP_DEPTH).fill(false),
    ]);
    await blocksAt(100n * GWEI, 2 * Math.ceil(IN_FLIGHT / BUMP_DEPTH));
    expect(new Set(await lab.states(txIds))).toEqual(new Set(['CONFIRMED']));
    for (const attempts of await attemptsOf(txIds)) {
      expect(attempts.length).toBeLessThanOrEqual(2);
      for (const { maxFeePerGas } of attempts) expect(BigInt(maxFeePerGas ?? 0)).toBeLessThanOrEqual(CAP);
    }
    expect(await lab.timesOnChain(...tags)).toEqual(tags.map(() => 1));
  });
});

describe('a bumped tx', () => {
  it('is CONFIRMED once, by its earlier attempt, when that one is mined after the later one was sent', async () => {
    await blocksAt(10n * GWEI, 2);
    const [txId = ''] = await lab.sent(tag);
    await blocksAt(100n * GWEI, BUMP_AFTER);
    const [first, second] = await lab.attempts(txId);
    expect(await lab.ask('hardhat_dropTransaction', second?.txHash)).toBe(true);
    const stored = await lab.node
      .get(AttemptRepository)
      .byHashes(lab.node.signer().chainId, [parseHash(first?.txHash ?? '')]);
    await lab.ask('eth_sendRawTransaction', stored[0]?.raw);
    await blocksAt(10n * GWEI, 1);
    // The node sends the later one again before it knows.
    await lab.resubmit();
    await lab.confirmAll();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', txHash: first?.txHash });
    expect((await lab.attempts(txId)).map(({ status }) => status)).toEqual(['MINED', 'LOST']);
    expect(await lab.timesOnChain(tag)).toEqual([1]);
  });

  it('replaces the attempt in the pool by the rule of 10 % on both fees, again and again', async () => {
    await blocksAt(10n * GWEI, 2);
    const [txId = ''] = await lab.sent(tag);
    for (const fee of [100n, 300n, 900n]) await blocksAt(fee * GWEI, BUMP_AFTER);
    const all = await lab.attempts(txId);
    expect(all).toHaveLength(4);
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 'ACCEPTED'));
    const pool = (await lab.ask('eth_getBlockByNumber', 'pending', false)) as { transactions: string[] };
    expect(pool.transactions).toEqual([all.at(-1)?.txHash]);
    await lab.confirmAll();
    expect(await lab.timesOnChain(tag)).toEqual([1]);
  });

  it('stays at the fee cap of the chain, FEE_CAPPED and sent again, until the market falls', async () => {
    await blocksAt(10n * GWEI, 2);
    const [txId = ''] = await lab.sent(tag);
    await blocksAt(2n * CAP, 3 * BUMP_AFTER);
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'FEE_CAPPED' });
    const capped = await lab.attempts(txId);
    expect(capped.map(({ maxFeePerGas }) => BigInt(maxFeePerGas ?? 0) <= CAP)).toEqual(capped.map(() => true));
    expect(await lab.ask('hardhat_dropTransaction', capped.at(-1)?.txHash)).toBe(true);
    await lab.resubmit();
    expect(await lab.attempts(txId)).toHaveLength(capped.length);
    await blocksAt(CAP / 100n, 1);
    await lab.confirmAll();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', subState: null });
    expect(await lab.timesOnChain(tag)).toEqual([1]);
  });
});
