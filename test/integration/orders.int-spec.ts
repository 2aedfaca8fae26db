import { describe, expect, it } from '@jest/globals';
import { BlockStore } from '../../src/modules/chain/domain/block-store.js';
import { AttemptRepository, MinedTxs } from '../../src/modules/ledger/index.js';
import { Database } from '../../src/platform/database/database.js';
import { aHash, aRequest, DEV_CHAIN } from '../support/builders.js';
import { makeDue, nodeLab } from '../support/node-lab.js';
import { NOT_SENT, refused, tagged } from '../support/send-faults.js';
import { TxsInFlight } from '../../src/modules/ledger/domain/txs-in-flight.js';

const lab = nodeLab();
const SECOND = 1_000;

/** Runs a statement of the test's own. */
async function sql(text: string, values: readonly (string | number)[] = []): Promise<void> {
  await lab.node.get(Database).query({ name: '', text }, values);
}

/** Sets the timers of a tx: due so many milliseconds ago. */
async function dueSince(txId: string, ms: number): Promise<void> {
  await sql(
    `UPDATE managed_tx SET next_resubmit_at = clock_timestamp() - $2::float8 * interval '1 ms',
            next_receipt_check_at = clock_timestamp() - $2::float8 * interval '1 ms' WHERE tx_id = $1`,
    [txId, ms],
  );
}

/** Three in the mempool, by nonce. */
async function sendThree(): Promise<[string, string, string]> {
  const ids: [string, string, string] = [await lab.create(1), await lab.create(2), await lab.create(3)];
  await lab.node.step();
  return ids;
}

describe('what is due', () => {
  const read = {
    'another send': (limit: number) =>
      lab.node.get(TxsInFlight).dueForResubmit(DEV_CHAIN, [lab.node.signer().address], limit),
    'another look at its receipt': (limit: number) =>
      lab.node.get(TxsInFlight).dueForReceiptCheck(DEV_CHAIN, [lab.node.signer().address], limit),
  };

  it.each(Object.entries(read))(
    'for %s is read the longest due first, and nothing that is not due',
    async (_for, of) => {
      const [first, second, third] = await sendThree();
      await dueSince(first, SECOND);
      await dueSince(second, 3 * SECOND);
      await dueSince(third, 2 * SECOND);
      expect((await of(9)).map(({ id }) => id)).toEqual([second, third, first]);
      expect((await of(1)).map(({ id }) => id)).toEqual([second]);
      await dueSince(second, -3_600 * SECOND);
      expect((await of(9)).map(({ id }) => id)).toEqual([third, first]);
    },
  );

  it('for another send at the same moment is read by nonce', async () => {
    const ids = await sendThree();
    await sql(`UPDATE managed_tx SET next_resubmit_at = '2020-01-01'`);
    expect((await read['another send'](2)).map(({ id }) => id)).toEqual(ids.slice(0, 2));
  });

  it('is sent again in the order of nonces, whatever was due first', async () => {
    const [first, second, third] = await sendThree();
    await dueSince(first, SECOND);
    await dueSince(second, 2 * SECOND);
    await dueSince(third, 3 * SECOND);
    lab.chain.sent.length = 0;
    await lab.node.resubmit();
    expect(lab.chain.sent.map(({ nonce }) => nonce)).toEqual([0n, 1n, 2n]);
  });
});

describe('after a takeover', () => {
  it('what was signed goes out first, by nonce and with the same bytes, and then what waits, however urgent', async () => {
    for (const tag of [1, 2, 3]) await lab.create(tag);
    const broadcast = lab.chain.broadcast;
    const bytes: string[] = [];
    lab.chain.broadcast = async (transactions) => {
      bytes.push(...transactions.map(({ raw }) => raw));
      throw new Error('crashed');
    };
    await lab.node.step().catch(() => undefined);
    lab.chain.broadcast = broadcast;
    await lab.create(4, { priority: 9 });
    const next = await lab.takeOver();
    await next.step();
    expect(lab.chain.sent.map(({ data }) => data)).toEqual([1, 2, 3, 4].map(tagged));
    expect(lab.chain.sent.map(({ nonce }) => nonce)).toEqual([0n, 1n, 2n, 3n]);
    expect(lab.chain.sent.slice(0, 3).map(({ raw }) => raw)).toEqual(bytes);
  });

  it('of several attempts that were signed the newest is sent, and no other', async () => {
    const { txId, hashes } = await repriced();
    const last = hashes.at(-1);
    lab.chain.sent.length = 0;
    delete lab.chain.faults.broadcast;
    const next = await lab.takeOver();
    await next.step();
    expect(lab.chain.sent.map(({ hash }) => hash)).toEqual([last]);
    expect((await next.tx(txId)).txHash).toBe(last);
  });
});

describe('the attempts of a slot', () => {
  it('are read in the order in which they were signed, whatever their hashes', async () => {
    const { txId, hashes } = await repriced();
    const read = async (): Promise<string[]> =>
      (await lab.node.get(AttemptRepository).ofSlots([{ signer: lab.node.signer(), nonce: 0n }])).map(
        ({ txHash }) => txHash,
      );
    expect(await read()).toEqual(hashes);
    await sql(
      `UPDATE tx_attempt SET created_at = '2020-01-01'::timestamptz - (created_at - '2020-01-01') WHERE tx_id = $1`,
      [txId],
    );
    expect(await read()).toEqual(hashes.toReversed());
  });

  it('are sent again by the newest', async () => {
    await repriced();
    lab.chain.faults.broadcast = () => refused('insufficient_funds', 'insufficient funds');
    await lab.resubmit();
    const newest = lab.chain.sent.at(-1)?.hash;
    lab.chain.sent.length = 0;
    await lab.resubmit();
    expect(lab.chain.sent.map(({ hash }) => hash)).toEqual([newest]);
  });
});

/** Signed three times, at a higher price each time, for every node called it too cheap. */
async function repriced(): Promise<{ readonly txId: string; readonly hashes: readonly string[] }> {
  lab.chain.faults.broadcast = () => refused('underpriced', 'transaction underpriced');
  const txId = await lab.sent(1);
  await lab.resubmit();
  await lab.resubmit();
  const hashes = [...new Set(lab.chain.sent.map(({ hash }) => hash))];
  expect(hashes).toHaveLength(3);
  return { txId, hashes };
}

describe('what becomes final', () => {
  it('is read from the lowest block up, by the rule of the chain and by a depth of its own', async () => {
    const ids = [];
    for (const [tag, confirmations] of [null, null, 1, 1].entries()) {
      ids.push(await lab.create(tag + 1, { confirmations }));
      await lab.node.step();
      lab.chain.mine();
    }
    await makeDue(lab.node);
    await lab.node.checkReceipts();
    expect(await lab.states(ids)).toEqual(ids.map(() => 'MINED'));
    const upTo = { byRule: 100, head: 100, ceiling: 100 };
    const page = async (skip: number, limit: number): Promise<string[]> =>
      (await lab.node.get(MinedTxs).minedUpTo(DEV_CHAIN, [lab.node.signer()], upTo, { skip, limit })).map(
        ({ id }) => id,
      );
    expect(await page(0, 9)).toEqual(ids);
    expect([await page(0, 1), await page(1, 1), await page(2, 1), await page(3, 1)].flat()).toEqual(ids);
  });

  it('is read of each signer from its newest down, and below a nonce', async () => {
    const other = lab.node.signer(1);
    const ids = await sendThree();
    const { txId } = await lab.node.create({ ...aRequest(), signer: other });
    await lab.node.step(other);
    await lab.confirmAll();
    const newest = async (...args: [{ signer: typeof other; nonce: bigint }[] | null, number]): Promise<string[]> =>
      (await lab.node.get(MinedTxs).newestFinal(DEV_CHAIN, ...args)).map(({ id }) => id);
    expect(new Set(await newest(null, 1))).toEqual(new Set([ids[2], txId]));
    expect(await newest([{ signer: lab.node.signer(), nonce: 2n }], 9)).toEqual([ids[1], ids[0]]);
  });
});

it('gaps are filled from the lowest nonce up', async () => {
  lab.chain.faults.broadcast = ({ data }) => (['2', '4'].includes(data.slice(-1)) ? NOT_SENT : undefined);
  const ids: string[] = [];
  for (const tag of [1, 2, 3, 4, 5]) ids.push(await lab.create(tag));
  await lab.node.step();
  for (const txId of [ids[3], ids[1]]) await lab.cancelUnsent(txId ?? '');
  await lab.node.step();
  const fills = (await lab.openFills()).map(({ nonce }) => nonce);
  expect(fills).toEqual([3, 1]);
  expect(lab.chain.sent.filter(({ data }) => data === '0x').map(({ nonce }) => nonce)).toEqual([1n, 3n]);
});

describe('blocks that were followed', () => {
  it('are read from the lowest up, and from the highest that does not fit on', async () => {
    const store = lab.node.get(BlockStore);
    lab.chain.mineEmpty(5);
    await lab.node.follow();
    lab.chain.mineEmpty(5);
    await lab.node.follow();
    const numbers = async (limit: number): Promise<number[]> =>
      (await store.recent(DEV_CHAIN, limit)).map(({ number }) => number);
    expect(await numbers(3)).toEqual([8, 9, 10]);
    await sql(`UPDATE chain_block SET parent_hash = $1 WHERE number = 9`, [aHash(404)]);
    expect(await numbers(9)).toEqual([9, 10]);
    await sql(`UPDATE chain_block SET canonical = false WHERE number = 10`);
    expect(await numbers(9)).toEqual([9]);
  });
});
