import { describe, expect, it } from '@jest/globals';
import type { BroadcastOutcome } from '../../src/modules/chain/index.js';
import { TxHistory } from '../../src/modules/events/index.js';
import type { NodeErrorClass } from '../../src/kernel/node-error-class.js';
import { type AttemptView, TxQueries } from '../../src/modules/ledger/application/views/tx-views.js';
import type { TestNode } from '../support/test-node.js';
import { NO_FEES } from '../../src/modules/ledger/domain/index.js';
import type { ModelTx } from '../support/model-pool.js';
import { nodeLab } from '../support/node-lab.js';
import { RaceLab } from '../support/race-lab.js';
import { NOT_SENT, onlyFor, OVERSIZED, refused, type SendFault, tagged, timedOut } from '../support/send-faults.js';

const lab = nodeLab();
const race = new RaceLab(lab);
const GWEI = 1_000_000_000n;
/** `resubmit.bumpAfterBlocks` and `resubmit.bumpDepth` by default. */
const [BUMP_AFTER, BUMP_DEPTH] = [5, 10];

/** Blocks in which nothing of ours is mined. The node sees them one by one. */
async function emptyBlocks(count: number, by = lab.node): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    lab.chain.mineEmpty();
    await by.follow();
    await by.bump();
  }
}

const attempts = (txId: string, by = lab.node): Promise<AttemptView[]> => by.get(TxQueries).attempts(txId);
const prices = async (txId: string): Promise<bigint[]> =>
  (await attempts(txId)).map(({ maxFeePerGas }) => BigInt(maxFeePerGas ?? 0));
const reasons = async (txId: string): Promise<string[]> =>
  (await lab.node.get(TxHistory).of(txId)).map(({ reason }) => reason);
const lastSent = (): ModelTx | undefined => lab.chain.sent.at(-1);

/** The next owner of the signers, who has seen the chain. */
async function takeOver(): Promise<TestNode> {
  const next = await lab.takeOver();
  await next.step();
  await next.follow();
  return next;
}

describe('a tx that is not mined', () => {
  it('is signed again after resubmit.bumpAfterBlocks at a higher price, with the same nonce and payload, and sent', async () => {
    const txId = await lab.sent(1);
    await emptyBlocks(BUMP_AFTER - 1);
    expect(await prices(txId)).toHaveLength(1);
    await emptyBlocks(1);
    const [first = 0n, second = 0n] = await prices(txId);
    expect(second * 8n).toBeGreaterThanOrEqual(first * 9n);
    expect(lab.chain.pooled()).toMatchObject([{ nonce: 0n, data: tagged(1), maxFeePerGas: second }]);
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', txHash: lastSent()?.hash });
    expect(await reasons(txId)).toContain('gas_bumped');
    await lab.confirmAll();
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
    expect(lab.minedWith(1)).toHaveLength(1);
  });

  it('is looked for once by a new owner, and then not at each block', async () => {
    const txId = await lab.sent(1);
    lab.chain.mineEmpty(BUMP_AFTER);
    const next = await takeOver();
    await next.bump();
    expect(await attempts(txId, next)).toHaveLength(2);
    await emptyBlocks(BUMP_AFTER - 1, next);
    expect(await attempts(txId, next)).toHaveLength(2);
    await emptyBlocks(1, next);
    expect(await attempts(txId, next)).toHaveLength(3);
  });

  it('waits for the ones in front of it when it is not among the lowest resubmit.bumpDepth', async () => {
    const ids: string[] = [];
    for (let tag = 1; tag <= BUMP_DEPTH + 2; tag += 1) ids.push(await lab.create(tag));
    await lab.node.step();
    await emptyBlocks(BUMP_AFTER + 2);
    const counts = await Promise.all(ids.map(async (txId) => (await attempts(txId)).length));
    expect(counts).toEqual([...new Array<number>(BUMP_DEPTH).fill(2), 1, 1]);
    lab.chain.mine(BUMP_DEPTH);
    await lab.node.follow();
    await lab.node.bump();
    expect((await attempts(ids.at(-1) ?? '')).length).toBe(2);
  });

  it('is not bumped when its account cannot pay, and so are the ones behind it', async () => {
    const ids = [await lab.create(1), await lab.create(2)];
    await lab.node.step();
    lab.chain.faults.broadcast = onlyFor(1, refused('insufficient_funds', 'insufficient funds'));
    await lab.resubmit();
    expect(await lab.node.tx(ids[0] ?? '')).toMatchObject({ subState: 'INSUFFICIENT_FUNDS' });
    await emptyBlocks(2 * BUMP_AFTER);
    expect([await attempts(ids[0] ?? ''), await attempts(ids[1] ?? '')]).toMatchObject([[{}], [{}]]);
  });

  it('is not bumped when it pays more than the market: then something else is the reason', async () => {
    const fees = { ...NO_FEES, maxFeePerGas: 40n * GWEI, maxPriorityFeePerGas: 9n * GWEI };
    const txId = await lab.create(1, { fees });
    await lab.node.step();
    await emptyBlocks(2 * BUMP_AFTER);
    expect(await prices(txId)).toEqual([40n * GWEI]);
  });

  it('is FEE_CAPPED when the fees of its client do not allow more, is sent again as it is, and mined', async () => {
    const fees = { ...NO_FEES, maxFeePerGas: 2n * GWEI, maxPriorityFeePerGas: GWEI };
    const txId = await lab.create(1, { fees });
    await lab.node.step();
    await emptyBlocks(BUMP_AFTER);
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'FEE_CAPPED' });
    lab.chain.dropPool();
    await lab.resubmit();
    expect([await lab.node.tx(txId), await prices(txId)]).toMatchObject([{ subState: 'FEE_CAPPED' }, [2n * GWEI]]);
    await lab.confirmAll();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', subState: null });
  });
});

describe('all attempts of a bumped tx stay watched', () => {
  it('an earlier one may be mined after a later one was sent', async () => {
    const txId = await lab.sent(1);
    const [first] = lab.chain.pooled();
    await emptyBlocks(BUMP_AFTER);
    lab.chain.dropPool();
    if (first) lab.chain.offer(first);
    lab.chain.mine();
    // Before it has seen the block, the node sends the later one again: its nonce is used.
    await lab.resubmit();
    expect(await lab.node.tx(txId)).toMatchObject({ subState: 'NONCE_SYNC' });
    await lab.node.checkReceipts();
    await lab.node.follow();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'MINED', txHash: first?.hash });
    await lab.confirmAll();
    expect((await attempts(txId)).map(({ status }) => status)).toEqual(['MINED', 'LOST']);
    expect([await lab.states([txId]), lab.minedWith(1).length]).toEqual([['CONFIRMED'], 1]);
  });

  it('a reorg may swap the attempt that won', async () => {
    const txId = await lab.sent(1);
    const [first] = lab.chain.pooled();
    await emptyBlocks(BUMP_AFTER);
    await lab.mine();
    expect((await lab.node.tx(txId)).txHash).not.toBe(first?.hash);
    lab.chain.reorg(1, { drop: true });
    if (first) lab.chain.offer(first);
    await lab.confirmAll();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', txHash: first?.hash });
    expect((await attempts(txId)).map(({ status }) => status)).toEqual(['MINED', 'LOST']);
  });
});

describe('a crash between the commit of a bump and its send', () => {
  it('leaves bytes that the next owner sends soon, and signs nothing new', async () => {
    const txId = await lab.sent(1);
    const broadcast = lab.chain.broadcast.bind(lab.chain);
    lab.chain.broadcast = () => Promise.reject(new Error('crashed'));
    await emptyBlocks(BUMP_AFTER).catch(() => undefined);
    expect((await attempts(txId)).map(({ status }) => status)).toEqual(['ACCEPTED', 'SIGNED']);
    lab.chain.broadcast = broadcast;
    const { nextResubmitAt } = await lab.node.tx(txId);
    expect(Date.parse(String(nextResubmitAt)) - Date.now()).toBeLessThan(10_000);
    const next = await takeOver();
    await lab.resubmit(next);
    const [, bump] = await attempts(txId, next);
    expect(lab.chain.pooled()).toMatchObject([{ hash: bump?.txHash }]);
    await lab.confirmAll(next);
    expect([await lab.states([txId], next), lab.minedWith(1).length]).toEqual([['CONFIRMED'], 1]);
  });
});

describe('a bump that nodes refused for want of funds', () => {
  const bumps = async (txId: string): Promise<number> =>
    (await reasons(txId)).filter((reason) => reason === 'gas_bumped').length;
  const timesSent = (hash: string | null | undefined): number => lab.chain.sent.filter((tx) => tx.hash === hash).length;

  /** @returns the id of a tx that a pool has, and the hash of its bump */
  async function unpaid(): Promise<[string, string | null]> {
    const txId = await lab.sent(1);
    const [first] = lab.chain.pooled();
    lab.chain.faults.broadcast = ({ hash }) =>
      hash === first?.hash ? undefined : refused('insufficient_funds', 'insufficient funds');
    await emptyBlocks(BUMP_AFTER);
    await lab.resubmit();
    const [, bump] = await attempts(txId);
    expect(bump).toMatchObject({ status: 'REJECTED' });
    return [txId, bump?.txHash ?? null];
  }

  it('is sent again at each look, signed once and told once', async () => {
    const [txId, hash] = await unpaid();
    const looks = 3;
    for (let look = 0; look < looks; look += 1) {
      await emptyBlocks(BUMP_AFTER);
      await lab.resubmit();
    }
    expect([timesSent(hash), await bumps(txId), (await attempts(txId)).length]).toEqual([1 + looks, 1, 2]);
    delete lab.chain.faults.broadcast;
    await lab.confirmAll();
    expect([await lab.states([txId]), lab.minedWith(1).length]).toEqual([['CONFIRMED'], 1]);
  });

  it('is what a speed-up sends, once told, and again after a crash before the send', async () => {
    const [txId, hash] = await unpaid();
    delete lab.chain.faults.broadcast;
    const broadcast = lab.chain.broadcast.bind(lab.chain);
    lab.chain.broadcast = () => Promise.reject(new Error('crashed'));
    await race.speedUp(txId);
    await lab.node.commands();
    expect(await race.commandsOf(txId)).toMatchObject([{ status: 'DONE', refusal: null }]);
    expect((await attempts(txId)).map(({ status }) => status)).toEqual(['ACCEPTED', 'SIGNED']);
    const { nextResubmitAt, txHash } = await lab.node.tx(txId);
    expect([Date.parse(String(nextResubmitAt)) - Date.now() < 10_000, txHash]).toEqual([true, hash]);
    lab.chain.broadcast = broadcast;
    const next = await takeOver();
    await next.commands();
    await lab.resubmit(next);
    expect(lab.chain.pooled()).toMatchObject([{ hash }]);
    // The bump of the timer, and the one of the client.
    expect(await bumps(txId)).toBe(2);
    await lab.confirmAll(next);
    expect([await lab.states([txId], next), lab.minedWith(1).length]).toEqual([['CONFIRMED'], 1]);
  });
});

describe('what is sent again of a bumped tx', () => {
  it('is the highest price, so that a node that restarted with an empty pool has the best one', async () => {
    const txId = await lab.sent(1);
    await emptyBlocks(BUMP_AFTER);
    lab.chain.dropPool();
    await lab.resubmit();
    expect(lab.chain.pooled().map(({ maxFeePerGas }) => maxFeePerGas)).toEqual((await prices(txId)).slice(1));
  });

  it('is the earlier one when every node refused the later one', async () => {
    const txId = await lab.sent(1);
    const [first] = lab.chain.pooled();
    lab.chain.faults.broadcast = () => refused('insufficient_funds', 'insufficient funds');
    await emptyBlocks(BUMP_AFTER);
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'INSUFFICIENT_FUNDS' });
    delete lab.chain.faults.broadcast;
    lab.chain.dropPool();
    await lab.resubmit();
    expect(lab.chain.pooled()).toMatchObject([{ hash: first?.hash }]);
    expect((await lab.node.tx(txId)).txHash).toBe(first?.hash);
  });
});

/** The node refuses every price below this one as too low for a replacement. */
function demands(wei: bigint): (tx: ModelTx) => SendFault | undefined {
  const outcome: BroadcastOutcome = {
    kind: 'unknown',
    errorClass: 'replacement_underpriced',
    message: 'replacement transaction underpriced',
  };
  return ({ maxFeePerGas }) => (maxFeePerGas < wei ? { deliver: false, outcome } : undefined);
}

describe('a node that refuses a bump for its price', () => {
  it('because it demands more than we bump is given what it demands', async () => {
    const txId = await lab.sent(1);
    const [first = 0n] = await prices(txId);
    lab.chain.faults.broadcast = demands((first * 14n) / 10n);
    await emptyBlocks(BUMP_AFTER);
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'STALE' });
    await emptyBlocks(3);
    const all = await prices(txId);
    expect(all).toHaveLength(4);
    expect(lab.chain.pooled()).toMatchObject([{ maxFeePerGas: all.at(-1) }]);
    await lab.confirmAll();
    expect([await lab.states([txId]), lab.minedWith(1).length]).toEqual([['CONFIRMED'], 1]);
  });

  it.each<NodeErrorClass>([
    'underpriced',
    'fee_cap_too_low',
    'replacement_underpriced',
    'replaced_by_other',
    'txpool_full',
  ])('never ends the payload, however often: %s', async (errorClass) => {
    const txId = await lab.sent(1);
    const [first] = lab.chain.pooled();
    lab.chain.faults.broadcast = ({ hash }) => (hash === first?.hash ? undefined : refusedAs(errorClass));
    await emptyBlocks(BUMP_AFTER + 20);
    for (let round = 0; round < 12; round += 1) await lab.resubmit();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL' });
    expect(await lab.node.tx(txId)).not.toMatchObject({ subState: 'REFUSED' });
    await lab.confirmAll();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', txHash: first?.hash });
  });
});

function refusedAs(errorClass: NodeErrorClass): SendFault {
  const isUnknown = errorClass === 'replacement_underpriced' || errorClass === 'replaced_by_other';
  return isUnknown
    ? { deliver: false, outcome: { kind: 'unknown', errorClass, message: errorClass } }
    : refused(errorClass, errorClass);
}

describe('a no-op', () => {
  it('that fills a nonce gap is bumped like a payload', async () => {
    await lab.gap();
    await lab.node.step();
    await emptyBlocks(BUMP_AFTER);
    const [fill] = await lab.openFills();
    expect((await attempts(fill?.txId ?? '')).map(({ kind }) => kind)).toEqual(['fill', 'fill']);
    await lab.confirmAll();
    expect(await lab.openFills()).toEqual([]);
  });

  it('that closes a slot is bumped, and the payload is not', async () => {
    lab.chain.faults.broadcast = () => timedOut({ deliver: false });
    const txId = await lab.sent(1);
    lab.chain.faults.broadcast = ({ data }) => (data === '0x' ? undefined : OVERSIZED);
    await lab.resubmit();
    await lab.resubmit();
    await emptyBlocks(BUMP_AFTER);
    expect((await attempts(txId)).map(({ kind }) => kind)).toEqual(['payload', 'cancel', 'cancel']);
    await lab.confirmAll();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'FAILED', failureReason: 'oversized data' });
  });

  it('that was refused for its price is signed at a higher price the next time', async () => {
    lab.chain.faults.broadcast = () => timedOut({ deliver: false });
    const txId = await lab.sent(1);
    lab.chain.faults.broadcast = ({ data }) => (data === '0x' ? refused('underpriced', 'underpriced') : OVERSIZED);
    for (let round = 0; round < 4; round += 1) await lab.resubmit();
    const [, ...noOps] = await prices(txId);
    expect(noOps).toHaveLength(3);
    expect(noOps).toEqual([...new Set(noOps)].sort((a, b) => (a < b ? -1 : 1)));
  });
});

describe.each([
  ['that never left the node, and was cancelled', NOT_SENT, 'CANCELLED'],
  [
    'that was refused for its price, and is replaced',
    refused('fee_cap_too_low', 'max fee per gas less than block base fee'),
    'IN_MEMPOOL',
  ],
] as const)('a payload that got the nonce of one %s', (_former, fault, state) => {
  /** The former holder offered 100 gwei, in a market of 3. */
  async function secondHolder(): Promise<string> {
    lab.chain.faults.broadcast = onlyFor(1, fault);
    const dear = { ...NO_FEES, maxFeePerGas: 100n * GWEI, maxPriorityFeePerGas: 50n * GWEI };
    const former = await lab.create(1, { fees: dear });
    await lab.node.step();
    if (state === 'CANCELLED') await lab.cancelUnsent(former);
    const txId = state === 'CANCELLED' ? await lab.sent(2) : await race.replacement(former, 2);
    await lab.node.commands();
    expect(await lab.states([former])).toEqual([state]);
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', nonce: 0 });
    return txId;
  }

  it('is bumped in time, to a price of the market', async () => {
    const txId = await secondHolder();
    await emptyBlocks(BUMP_AFTER);
    const [, second = 0n] = await prices(txId);
    expect(second).toBeGreaterThan(0n);
    expect(second).toBeLessThan(10n * GWEI);
  });

  it('pays the market when it is sped up or cancelled', async () => {
    const txId = await secondHolder();
    await race.speedUp(txId);
    await lab.node.commands();
    await race.cancel(txId);
    await lab.node.commands();
    await lab.resubmit();
    const all = await prices(txId);
    expect(all).toHaveLength(3);
    for (const price of all) expect(price).toBeLessThan(10n * GWEI);
  });
});
