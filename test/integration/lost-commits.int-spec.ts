import { describe, expect, it } from '@jest/globals';
import { ReconcileSigner } from '../../src/modules/lost-commits/index.js';
import { Database } from '../../src/platform/database/database.js';
import { parseHex } from '../../src/kernel/hex.js';
import { aRequest } from '../support/builders.js';
import { loseAttempts, loseCommitsOfLanes, Standby } from '../support/lost-commits.js';
import { FOREIGN_DATA } from '../support/model-chain.js';
import { makeWaitingDue, nodeLab } from '../support/node-lab.js';
import { RaceLab } from '../support/race-lab.js';
import { NOT_SENT, onlyFor, OVERSIZED, refused, tagged } from '../support/send-faults.js';
import type { TestNode } from '../support/test-node.js';
import { until } from '../support/until.js';

const lab = nodeLab();
const race = new RaceLab(lab);
const CONFIG = { confirmations: { required: 2, staleReceiptTimeout: '1ms' } };

/** Commits of the first node's lane are gone, and it is, too. */
async function lose(): Promise<void> {
  await lab.node.releaseLeases();
  await loseCommitsOfLanes(lab.node.get(Database));
}

/** The next owner, who knows nothing but what is written. */
function successor(config: Record<string, unknown> = {}): Promise<TestNode> {
  return lab.startNode({ ...CONFIG, ...config }, ({ nonce }) => Object.assign(nonce, { poolQuietTime: 1 }));
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

/** A tx that gets no nonce now. */
async function waitingAnHour(tag: number): Promise<string> {
  const txId = await lab.create(tag);
  const text = `UPDATE managed_tx SET next_resubmit_at = clock_timestamp() + interval '1 hour' WHERE tx_id = $1`;
  await lab.node.get(Database).query({ name: 'test_wait', text }, [txId]);
  return txId;
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

it('executes a payload once whose replacement was lost, although the payload of a waiting tx is out with its nonce', async () => {
  const txId = await lab.sent(1);
  const equal = await lab.create(7, { payload: { ...aRequest().payload, data: tagged(2) } });
  const standby = await Standby.of(lab.node.get(Database));
  await race.replacement(txId, 2);
  await lab.node.commands();
  await lab.node.releaseLeases();
  await standby.promote(true);
  const next = await successor();
  await next.step();
  // Miners have the first bytes all the same.
  const first = lab.chain.sent.find(({ data }) => data === tagged(1));
  if (first) lab.chain.force(first);
  await lab.mine(next);
  await finish(next, [txId, equal]);
  expect([1, 2].map((tag) => lab.minedWith(tag).length)).toEqual([1, 1]);
});

it('takes nothing for unsent that was sent later, as the database knew before it lost that: a cancel competes with it', async () => {
  lab.chain.faults.broadcast = onlyFor(1, NOT_SENT);
  const txId = await lab.sent(1);
  expect(await lab.states([txId])).toEqual(['ALLOCATED']);
  const standby = await Standby.of(lab.node.get(Database));
  delete lab.chain.faults.broadcast;
  await lab.resubmit();
  const bytes = lab.chain.sent.find(({ data }) => data === tagged(1));
  expect(await lab.states([txId])).toEqual(['IN_MEMPOOL']);
  // No pool shows it, and whoever makes a block has it all the same.
  lab.chain.dropPool();
  await lab.node.releaseLeases();
  await standby.promote(true);
  const next = await successor();
  lab.chain.faults.broadcast = onlyFor(1, NOT_SENT);
  await next.step();
  await race.cancel(txId, null, next);
  await next.commands();
  expect(await lab.states([txId], next)).not.toEqual(['CANCELLED']);
  if (bytes) lab.chain.force(bytes);
  await lab.mine(next);
  await finish(next, [txId]);
  expect(lab.minedWith(1)).toHaveLength(1);
});

/** Of the bytes whose commit was lost, when the next owner comes. */
const PLACES = ['in a block', 'in a pool'] as const;

describe.each(PLACES)('a promoted standby that had not received the commit of bytes that are %s', (place) => {
  /** Runs `lost` after the standby stopped receiving. @returns the next owner, after it did all it wants to do */
  async function promotedWithout(lost: () => Promise<unknown>, isNoticed = true): Promise<TestNode> {
    const standby = await Standby.of(lab.node.get(Database));
    await lost();
    await lab.node.releaseLeases();
    await standby.promote(isNoticed);
    if (place === 'in a block') lab.chain.mine();
    const next = await successor({ resubmit: { bumpAfterBlocks: 3 } });
    for (let round = 0; round < 12; round += 1) {
      await next.step();
      await next.commands();
      lab.chain.mineEmpty(4);
      await next.follow();
      await next.bump();
      if (round > 3) lab.chain.mine();
      lab.chain.mineEmpty(2);
      await next.follow();
      await lab.resubmit(next);
      await next.checkReceipts();
    }
    return next;
  }

  async function bump(): Promise<void> {
    for (let block = 0; block < 5; block += 1) {
      lab.chain.mineEmpty();
      await lab.node.follow();
      await lab.node.bump();
    }
    expect(sentWith(1)).toHaveLength(2);
  }

  async function cancel(txId: string): Promise<void> {
    await race.cancel(txId);
    await lab.node.commands();
    await lab.resubmit();
    expect(lab.chain.pooled()).toMatchObject([{ data: '0x' }]);
  }

  it('executes a payload once that was bumped', async () => {
    const txId = await lab.sent(1);
    const next = await promotedWithout(bump);
    expect(await lab.states([txId], next)).toEqual(['CONFIRMED']);
    expect(lab.minedWith(1)).toHaveLength(1);
    expect(await reasons(next, txId)).toContain('nonce_recovered');
  });

  it('does not execute a payload that was cancelled', async () => {
    const txId = await lab.sent(1);
    const next = await promotedWithout(() => cancel(txId));
    expect(await lab.states([txId], next)).toEqual(['CANCELLED']);
    expect(lab.minedWith(1)).toEqual([]);
  });

  it('does not execute a payload that was replaced', async () => {
    const txId = await lab.sent(1);
    const replacement = await race.replacement(txId, 2);
    const next = await promotedWithout(() => lab.node.commands());
    expect(await lab.states([txId, replacement], next)).toEqual(['REPLACED', 'CONFIRMED']);
    expect([1, 2].map((tag) => lab.minedWith(tag).length)).toEqual([0, 1]);
    expect(await race.commandsOf(txId)).toMatchObject([{ status: 'DONE' }]);
  });

  it('executes what was sent again after nodes had refused its replacement, and not the replacement', async () => {
    const txId = await lab.sent(1);
    lab.chain.faults.broadcast = onlyFor(2, refused('txpool_full', 'txpool is full'));
    const replacement = await race.replacement(txId, 2);
    await lab.node.commands();
    expect(await lab.states([replacement])).toEqual(['ALLOCATED']);
    const next = await promotedWithout(async () => {
      lab.chain.faults.broadcast = onlyFor(2, OVERSIZED);
      await lab.resubmit();
      await race.speedUp(txId);
      await lab.node.commands();
      expect(sentWith(1)).toHaveLength(2);
      delete lab.chain.faults.broadcast;
    });
    expect(await lab.states([txId, replacement], next)).toEqual(['CONFIRMED', 'FAILED']);
    expect([1, 2].map((tag) => lab.minedWith(tag).length)).toEqual([1, 0]);
  });

  it('executes a replacement once that got another nonce, because somebody else had used that of both', async () => {
    const txId = await lab.sent(1);
    const replacement = await race.replacement(txId, 2);
    await lab.node.commands();
    const next = await promotedWithout(async () => {
      lab.chain.sendForeign(lab.node.signer().address, 0n);
      await until('it is foreign for good', async () => {
        await lab.confirmAll();
        await lab.resubmit();
        await lab.node.checkReceipts();
        return (await lab.states([replacement]))[0] === 'PENDING';
      });
      expect(await lab.states([txId])).toEqual(['REPLACED']);
      await lab.node.step();
      expect(sentWith(2)).toHaveLength(2);
    });
    expect(await lab.states([txId, replacement], next)).toEqual(['REPLACED', 'CONFIRMED']);
    expect([1, 2].map((tag) => lab.minedWith(tag).length)).toEqual([0, 1]);
    expect(await lab.openFills(next)).toEqual([]);
  });

  // By age, because the row of one is written before that of the other.
  it.each(['older', 'younger'])(
    'executes a payload once that got the nonce of a %s one, which had ended',
    async (age) => {
      const waiting = age === 'younger' ? await waitingAnHour(2) : null;
      lab.chain.faults.broadcast = onlyFor(1, NOT_SENT);
      const unsent = await lab.sent(1);
      expect(await lab.states([unsent])).toEqual(['ALLOCATED']);
      const txId = waiting ?? (await lab.create(2));
      const next = await promotedWithout(async () => {
        await lab.cancelUnsent(unsent);
        await makeWaitingDue(lab.node);
        await lab.node.step();
        delete lab.chain.faults.broadcast;
        expect(sentWith(2)).toHaveLength(1);
      });
      // The client of the first one was told that it is CANCELLED.
      expect(await lab.states([unsent, txId], next)).toEqual(['CANCELLED', 'CONFIRMED']);
      expect([1, 2].map((tag) => lab.minedWith(tag).length)).toEqual([0, 1]);
    },
  );

  describe('executes each payload once, when no-ops used the nonces that the standby knows', () => {
    const TOO_CHEAP = refused('fee_cap_too_low', 'max fee per gas less than block base fee');

    /** No pool accepts them, until no-ops have used their nonces for good. */
    async function requeued(txIds: readonly string[]): Promise<void> {
      await until('they wait for other nonces', async () => {
        await lab.resubmit();
        await lab.confirmAll();
        return (await lab.states(txIds)).every((state) => state === 'PENDING');
      });
      delete lab.chain.faults.broadcast;
    }

    const nonces = async (txIds: readonly string[]) =>
      Promise.all(txIds.map(async (txId) => (await lab.node.tx(txId)).nonce));

    it('and another payload got the next one', async () => {
      lab.chain.faults.broadcast = onlyFor(1, TOO_CHEAP);
      const txId = await lab.sent(1);
      const other = await lab.create(2, { priority: 5 });
      const next = await promotedWithout(async () => {
        await requeued([txId]);
        await lab.node.step();
        await makeWaitingDue(lab.node);
        await lab.node.step();
        expect(await nonces([other, txId])).toEqual([1, 2]);
      });
      expect(await lab.states([txId, other], next)).toEqual(['CONFIRMED', 'CONFIRMED']);
      expect([1, 2].map((tag) => lab.minedWith(tag).length)).toEqual([1, 1]);
    });

    it('and what was sent behind it was mined', async () => {
      lab.chain.faults.broadcast = onlyFor(1, TOO_CHEAP);
      const txId = await lab.sent(1);
      const other = await lab.sent(2);
      const next = await promotedWithout(async () => {
        await requeued([txId]);
        await makeWaitingDue(lab.node);
        await lab.node.step();
        expect(await nonces([txId])).toEqual([2]);
      });
      expect(await lab.states([txId, other], next)).toEqual(['CONFIRMED', 'CONFIRMED']);
      expect([1, 2].map((tag) => lab.minedWith(tag).length)).toEqual([1, 1]);
    });

    it.each([
      ['nodes had refused the payload', 0, false],
      ['a no-op had been signed', 1, false],
      ['a no-op was in a block', 1, true],
    ])('and the standby knows that %s', async (_, resends, isMined) => {
      lab.chain.faults.broadcast = onlyFor(1, TOO_CHEAP);
      const txId = await lab.sent(1);
      const other = await lab.sent(2);
      await until('nodes have refused it ten times', async () => {
        await lab.resubmit();
        return (await lab.node.tx(txId)).subState === 'REFUSED';
      });
      for (let round = 0; round < resends; round += 1) await lab.resubmit();
      if (isMined) await lab.mine();
      expect(await lab.states([txId])).toEqual([isMined ? 'MINED' : 'IN_MEMPOOL']);
      const next = await promotedWithout(async () => {
        await requeued([txId]);
        await makeWaitingDue(lab.node);
        await lab.node.step();
        expect(await nonces([txId])).toEqual([2]);
      });
      expect(await lab.states([txId, other], next)).toEqual(['CONFIRMED', 'CONFIRMED']);
      expect([1, 2].map((tag) => lab.minedWith(tag).length)).toEqual([1, 1]);
    });

    it.each([
      ['nodes had refused its replacement for now', TOO_CHEAP, 0, false],
      ['its replacement had been withdrawn', OVERSIZED, 0, false],
      ['a no-op had been signed for both', OVERSIZED, 2, false],
      ['a no-op for both was in a block', OVERSIZED, 2, true],
    ])('and the standby knows of what was sent again that %s', async (_, refusal, resends, isMined) => {
      const refusalOf = new Map([
        [tagged(1), TOO_CHEAP],
        [tagged(2), refusal],
      ]);
      lab.chain.faults.broadcast = ({ data }) => refusalOf.get(parseHex(data));
      const txId = await lab.sent(1);
      const replacement = await race.replacement(txId, 2);
      await lab.node.commands();
      if (resends > 0)
        await until('nodes have refused it ten times', async () => {
          await lab.resubmit();
          return (await lab.node.tx(txId)).subState === 'REFUSED';
        });
      for (let round = 0; round < resends; round += 1) await lab.resubmit();
      if (isMined) await lab.mine();
      expect(await lab.states([txId])).toEqual([isMined ? 'MINED' : 'IN_MEMPOOL']);
      const next = await promotedWithout(async () => {
        refusalOf.set(tagged(2), OVERSIZED);
        await requeued([txId]);
        expect(await lab.states([replacement])).toEqual(['FAILED']);
        await makeWaitingDue(lab.node);
        await lab.node.step();
        expect(await nonces([txId])).toEqual([1]);
      });
      expect(await lab.states([txId, replacement], next)).toEqual(['CONFIRMED', 'FAILED']);
      expect([1, 2].map((tag) => lab.minedWith(tag).length)).toEqual([1, 0]);
      expect(await lab.openFills(next)).toEqual([]);
    });

    it.each([
      ['two of them were sent again in the other order', [1, 0]],
      ['three of them were sent again in another order', [2, 0, 1]],
    ])('and %s', async (_, order) => {
      lab.chain.faults.broadcast = () => TOO_CHEAP;
      const txIds: string[] = [];
      for (const tag of order.map((__, index) => index + 1)) txIds.push(await lab.create(tag));
      await lab.node.step();
      expect(await nonces(txIds)).toEqual(order.map((__, index) => index));
      const next = await promotedWithout(async () => {
        lab.chain.faults.broadcast = ({ data }) => (data === '0x' ? undefined : TOO_CHEAP);
        await requeued(txIds);
        for (const index of order) {
          await lab.node
            .get(Database)
            .query(
              { name: 'test_due', text: 'UPDATE managed_tx SET next_resubmit_at = clock_timestamp() WHERE tx_id = $1' },
              [txIds[index] ?? ''],
            );
          await lab.node.step();
        }
        expect(await nonces(txIds)).toEqual(order.map((__, index) => order.length + order.indexOf(index)));
      });
      expect(await lab.states(txIds, next)).toEqual(order.map(() => 'CONFIRMED'));
      expect(order.map((__, index) => lab.minedWith(index + 1).length)).toEqual(order.map(() => 1));
    });
  });

  if (place === 'in a block')
    it.each([
      ['was bumped', bump, 'CONFIRMED', 1],
      ['was cancelled', cancel, 'CANCELLED', 0],
    ] as const)(
      'although nobody noticed that it is another server: a payload that %s',
      async (_, lost, state, times) => {
        const txId = await lab.sent(1);
        const next = await promotedWithout(() => lost(txId), false);
        expect(await lab.states([txId], next)).toEqual([state]);
        expect(lab.minedWith(1)).toHaveLength(times);
      },
    );
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
