import { describe, expect, it } from '@jest/globals';
import { ANYONE } from '../../src/kernel/caller.js';
import { TxQueries, type TxList } from '../../src/modules/ledger/application/views/tx-views.js';
import { Database } from '../../src/platform/database/database.js';
import { nodeLab } from '../support/node-lab.js';

const lab = nodeLab();
const MB = 1024 * 1024;

/** Every page from the newest on. */
async function pages(limit: number): Promise<TxList[]> {
  const found: TxList[] = [];
  let before: string | null = null;
  do {
    const page: TxList = await lab.node
      .get(TxQueries)
      .list({ kind: 'payload', limit, ...(before === null ? {} : { before }) }, ANYONE);
    found.push(page);
    before = page.nextBefore;
  } while (before !== null);
  return found;
}

/** As rows from before there was a limit: so long is the metadata of the newest of them. */
async function lengthenMetadata(bytes: number, count: number): Promise<void> {
  const text = `
    UPDATE managed_tx SET metadata = jsonb_build_object('blob', repeat('x', $1))
     WHERE tx_id IN (SELECT tx_id FROM managed_tx ORDER BY tx_id DESC LIMIT $2)`;
  await lab.node.get(Database).query({ name: 'test_lengthen', text }, [bytes, count]);
}

describe('a list of transactions', () => {
  it('ends a page early rather than answer with many megabytes, and goes on after it; nothing is left out', async () => {
    const ids: string[] = [];
    for (let tag = 1; tag <= 9; tag += 1) ids.unshift(await lab.create(tag));
    await lengthenMetadata(400_000, 6);
    const found = await pages(50);
    expect(found.map(({ items }) => items.length)).toEqual([2, 2, 5]);
    expect(found.flatMap(({ items }) => items.map(({ txId }) => txId))).toEqual(ids);
    for (const { items } of found) expect(JSON.stringify(items).length).toBeLessThan(MB);
  });

  it('has at least one transaction on a page, however long it is', async () => {
    const ids = [await lab.create(1), await lab.create(2)].reverse();
    await lengthenMetadata(3 * MB, 2);
    expect((await pages(50)).map(({ items }) => items.map(({ txId }) => txId))).toEqual(ids.map((txId) => [txId]));
  });

  it('has as many on a page as were asked for, and no empty page at the end', async () => {
    for (let tag = 1; tag <= 4; tag += 1) await lab.create(tag);
    expect((await pages(2)).map(({ items }) => items.length)).toEqual([2, 2]);
    expect((await pages(3)).map(({ items }) => items.length)).toEqual([3, 1]);
  });

  it('is empty where there is nothing', async () => {
    expect(await pages(50)).toEqual([{ items: [], nextBefore: null }]);
  });
});
