import { describe, expect, it } from '@jest/globals';
import { ReconcileSigner } from '../../src/modules/lost-commits/index.js';
import { Database } from '../../src/platform/database/database.js';
import { aRequest } from '../support/builders.js';
import { loseAttempts, loseCommitsOfLanes } from '../support/lost-commits.js';
import { FOREIGN_DATA } from '../support/model-chain.js';
import { nodeLab } from '../support/node-lab.js';
import { refused, tagged } from '../support/send-faults.js';
import type { TestNode } from '../support/test-node.js';
import { until } from '../support/until.js';

const lab = nodeLab();
const CONFIG = { confirmations: { required: 2, staleReceiptTimeout: '1ms' }, nonce: { poolQuietTime: '1ms' } };

/** Commits of the first node's lane are gone, and it is, too. */
async function lose(): Promise<void> {
  await lab.node.releaseLeases();
  await loseCommitsOfLanes(lab.node.get(Database));
}

/** The next owner, who knows nothing but what is written. */
function successor(config: Record<string, unknown> = {}): Promise<TestNode> {
  return lab.startNode({ ...CONFIG, ...config });
}

/** Blocks come, and the node does all that its timers would have it do, until all of these are final. */
async function finish(node: TestNode, txIds: readonly string[]): Promise<void> {
  await until('all are final', async () => {
    await node.step();
    lab.chain.mine();
    lab.chain.mineEmpty(2);
    await node.follow();
    await lab.resubmit(node);
    await node.checkReceipts();
    return (await lab.states(txIds, node)).every((state) => state === 'CONFIRMED');
  });
  await node.step();
}

async function reasons(node: TestNode, txId: string): Promise<string[]> {
  const { rows } = await node
    .get(Database)
    .query<{ reason: string }>(
      { name: 'test_reasons', text: 'SELECT reason FROM tx_event WHERE tx_id = $1 ORDER BY seq' },
      [txId],
    );
  return rows.map(({ reason }) => reason);
}

function sentWith(tag: number): string[] {
  return [...new Set(lab.chain.sent.filter(({ data }) => data === tagged(tag)).map(({ hash }) => hash))];
}

/** Two txs were sent and their commits lost; the intake of a third, more urgent one came after. */
async function twoOutAndOneNew(): Promise<string[]> {
  const txIds = [await lab.create(1), await lab.create(2)];
  await lab.node.step();
  await lose();
  return [...txIds, await lab.create(3, { priority: 5 })];
}

describe('a database that lost the commits of a lane after the send', () => {
  it('has every payload executed once: what is in the pool is found, and known again', async () => {
    const txIds = await twoOutAndOneNew();
    const next = await successor();
    await next.step();
    expect(await Promise.all(txIds.map(async (txId) => (await next.tx(txId)).nonce))).toEqual([0, 1, 2]);
    await finish(next, txIds);
    expect([1, 2, 3].map((tag) => lab.minedWith(tag).length)).toEqual([1, 1, 1]);
    expect([1, 2, 3].map((tag) => sentWith(tag).length)).toEqual([1, 1, 1]);
    expect(await reasons(next, txIds[0] ?? '')).toEqual(
      expect.arrayContaining(['nonce_recovered', 'sent', 'mined', 'confirmed']),
    );
  });

  it('has every payload executed once when all was mined before the next owner came', async () => {
    const txIds = await twoOutAndOneNew();
    lab.chain.mine();
    lab.chain.mineEmpty(3);
    const next = await successor();
    await finish(next, txIds);
    expect([1, 2, 3].map((tag) => lab.minedWith(tag).length)).toEqual([1, 1, 1]);
  });

  it('sends nothing while no pool is shown, until what was hidden is mined and found in a block', async () => {
    lab.chain.showsPool = false;
    const txIds = await twoOutAndOneNew();
    const next = await successor();
    await next.step();
    await next.step();
    expect(sentWith(3)).toEqual([]);
    expect(await next.tx(txIds[2] ?? '')).toMatchObject({ state: 'PENDING', subState: 'NONCE_SYNC' });
    await finish(next, txIds);
    expect([1, 2, 3].map((tag) => lab.minedWith(tag).length)).toEqual([1, 1, 1]);
  });

  it('goes on when what no pool showed is in none any more, for long enough', async () => {
    lab.chain.showsPool = false;
    const txIds = await twoOutAndOneNew();
    const next = await successor();
    await next.step();
    lab.chain.dropPool();
    await finish(next, txIds);
    expect([1, 2, 3].map((tag) => lab.minedWith(tag).length)).toEqual([1, 1, 1]);
  });

  it('gives the nonces of equal payloads to as many txs, and sends neither again', async () => {
    const equal = { payload: { ...aRequest().payload, data: tagged(1) } };
    const txIds = [await lab.create(1, equal), await lab.create(2, equal)];
    await lab.node.step();
    await lose();
    txIds.push(await lab.create(3, equal));
    const next = await successor();
    await next.step();
    expect(await Promise.all(txIds.map(async (txId) => (await next.tx(txId)).nonce))).toEqual([0, 1, 2]);
    await finish(next, txIds);
    expect(lab.minedWith(1)).toHaveLength(3);
  });

  it('does not sign anew what was allocated, signed and sent, when only the allocation was kept', async () => {
    const txIds = [await lab.create(1), await lab.create(2)];
    await lab.node.step();
    await lab.node.releaseLeases();
    await loseAttempts(lab.node.get(Database));
    // Whoever signs again gets other bytes.
    raiseFees();
    const next = await successor();
    await next.step();
    expect([1, 2].map((tag) => sentWith(tag).length)).toEqual([1, 1]);
    await finish(next, txIds);
    expect([1, 2].map((tag) => lab.minedWith(tag).length)).toEqual([1, 1]);
  });

  it('does the same when they were mined', async () => {
    const txIds = [await lab.create(1), await lab.create(2)];
    await lab.node.step();
    lab.chain.mine();
    lab.chain.mineEmpty(3);
    await lab.node.releaseLeases();
    await loseAttempts(lab.node.get(Database));
    raiseFees();
    const next = await successor();
    await finish(next, txIds);
    expect([1, 2].map((tag) => lab.minedWith(tag).length)).toEqual([1, 1]);
  });

  it('is noticed by a node that lives on, before it gives out a nonce twice', async () => {
    const txIds = await Promise.all([lab.create(1), lab.create(2)]);
    await lab.node.step();
    await loseCommitsOfLanes(lab.node.get(Database));
    txIds.push(await lab.create(3, { priority: 5 }));
    await lab.node.step().catch(() => undefined);
    expect(sentWith(3)).toEqual([]);
    expect(await epochs()).toEqual(['first']);
    await finish(lab.node, txIds);
    expect(await epochs()).toEqual(['first', 'cursor_went_backwards']);
    expect([1, 2, 3].map((tag) => lab.minedWith(tag).length)).toEqual([1, 1, 1]);
  });
});

describe('transactions of somebody else with our key in the pool', () => {
  it('do not hold a signer: they keep their nonces, and ours come after them', async () => {
    const { address } = lab.node.signer();
    const foreign = [lab.chain.sendForeign(address, 0n), lab.chain.sendForeign(address, 1n)];
    const txId = await lab.create(1);
    await lab.node.step();
    expect(await lab.node.tx(txId)).toMatchObject({ nonce: 2 });
    await finish(lab.node, [txId]);
    expect(lab.chain.minedTxs().map(({ hash }) => hash)).toEqual(
      expect.arrayContaining(foreign.map(({ hash }) => hash)),
    );
    expect(await lab.openFills()).toEqual([]);
  });

  it('are not taken for a payload of ours when nobody has acted for the signer here before', async () => {
    // Another database with the same key sent it, and this one begins.
    const equal = { payload: { ...aRequest().payload, data: FOREIGN_DATA } };
    const foreign = lab.chain.sendForeign(lab.node.signer().address, 0n);
    const txId = await lab.create(1, { ...equal, payload: { ...equal.payload, to: foreign.from, value: 0n } });
    await finish(lab.node, [txId]);
    expect(await lab.node.tx(txId)).toMatchObject({ nonce: 1 });
    expect(lab.chain.minedTxs().filter(({ data }) => data === FOREIGN_DATA)).toHaveLength(2);
  });

  it('leave a gap that is filled, when they vanish from all pools', async () => {
    lab.chain.sendForeign(lab.node.signer().address, 0n);
    const txId = await lab.create(1);
    lab.chain.faults.broadcast = ({ data }) =>
      data === FOREIGN_DATA ? refused('oversized_data', 'oversized data') : undefined;
    await lab.node.step();
    lab.chain.dropPool();
    await finish(lab.node, [txId]);
    expect(lab.minedWith(1)).toHaveLength(1);
  });
});

describe('a person who vouches', () => {
  it('has a held signer go on', async () => {
    lab.chain.showsPool = false;
    await lab.mined(1);
    const next = await lab.takeOver();
    const signer = next.signer();
    lab.chain.sendForeign(signer.address, 1n);
    const txId = await lab.create(2);
    await next.step();
    expect(await next.get(ReconcileSigner).execute(signer, false)).toMatchObject({ held: true });
    expect(await next.get(ReconcileSigner).execute(signer, true)).toMatchObject({ held: false });
    await until('it is sent', async () => {
      await next.step();
      return sentWith(2).length > 0;
    });
    expect((await next.tx(txId)).state).not.toBe('PENDING');
  });
});

function raiseFees(): void {
  const quote = lab.chain.feeQuote.bind(lab.chain);
  lab.chain.feeQuote = async () => {
    const { tips, ...rest } = await quote();
    const more = (tip: bigint): bigint => tip + 7n;
    return {
      ...rest,
      tips: { slow: more(tips.slow), standard: more(tips.standard), fast: more(tips.fast), urgent: more(tips.urgent) },
    };
  };
}

async function epochs(): Promise<string[]> {
  const { rows } = await lab.node
    .get(Database)
    .query<{ evidence: string }>(
      { name: 'test_epochs', text: 'SELECT evidence FROM database_epoch ORDER BY epoch' },
      [],
    );
  return rows.map(({ evidence }) => evidence);
}
