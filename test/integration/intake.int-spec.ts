import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parseAddress } from '../../src/kernel/hex.js';
import { Database } from '../../src/platform/database/database.js';
import { aRequest } from '../support/builders.js';
import { ModelChain } from '../support/model-chain.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { TestNode } from '../support/test-node.js';

let database: TestDatabase;
let node: TestNode;

beforeEach(async () => {
  database = await createTestDatabase();
  node = await TestNode.start(database.url, new ModelChain());
});

afterEach(async () => {
  await node.close();
  await database.drop();
});

async function count(table: 'managed_tx' | 'tx_event'): Promise<number> {
  const { rows } = await node
    .get(Database)
    .query<{ n: string }>({ name: `test_count_${table}`, text: `SELECT count(*) AS n FROM ${table}` }, []);
  return Number(rows[0]?.n);
}

describe('intake', () => {
  it('stores 100 concurrent creates with one requestId once, and all of them name the same tx', async () => {
    const second = await TestNode.start(database.url, new ModelChain());
    const request = { ...aRequest(), signer: node.signer() };
    const created = await Promise.all(
      Array.from({ length: 100 }, (_, index) => (index % 2 === 0 ? node : second).create(request)),
    );
    expect(new Set(created.map(({ txId }) => txId)).size).toBe(1);
    expect(created.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect([await count('managed_tx'), await count('tx_event')]).toEqual([1, 1]);
    await second.close();
  });

  it('refuses the same key with another body, and changes nothing', async () => {
    const request = { ...aRequest(), signer: node.signer() };
    const first = await node.create(request);
    await expect(node.create({ ...request, priority: 7 })).rejects.toMatchObject({
      code: 'idempotency_conflict',
      facts: { txId: first.txId },
    });
    expect(await node.tx(first.txId)).toMatchObject({ priority: 0 });
    expect([await count('managed_tx'), await count('tx_event')]).toEqual([1, 1]);
  });

  it('tells duplicates, conflicts and strangers apart within one batch', async () => {
    const request = { ...aRequest(), signer: node.signer() };
    const stranger = { ...request, signer: { ...request.signer, address: parseAddress(`0x${'9'.repeat(40)}`) } };
    const results = await Promise.allSettled([
      node.create(request),
      node.create(request),
      node.create({ ...request, priority: 1 }),
      node.create(stranger),
    ]);
    expect(results.map((result) => (result.status === 'fulfilled' ? result.value.isNew : result.reason.code))).toEqual([
      true,
      false,
      'idempotency_conflict',
      'unknown_signer',
    ]);
    expect(await count('managed_tx')).toBe(1);
  });

  it('lets the same requestId of another signer be another tx', async () => {
    const ids = await Promise.all([0, 1].map((index) => node.create({ ...aRequest(), signer: node.signer(index) })));
    expect(new Set(ids.map(({ txId }) => txId)).size).toBe(2);
  });

  it('stores the neighbours of a request that the database refuses', async () => {
    const request = { ...aRequest(), signer: node.signer() };
    // NUL cannot be stored in PostgreSQL text; the HTTP edge refuses it, so this stands for whatever slips through there.
    const poison = { ...request, requestId: 'a\u0000b' };
    const results = await Promise.allSettled([
      node.create({ ...request, requestId: 'a' }),
      node.create(poison),
      node.create({ ...request, requestId: 'b' }),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
});
