import { describe, expect, it } from '@jest/globals';
import { parseAddress } from '../../src/kernel/hex.js';
import { Database } from '../../src/platform/database/database.js';
import { aRequest } from '../support/builders.js';
import { nodeLab } from '../support/node-lab.js';

const lab = nodeLab();

async function count(table: 'managed_tx' | 'tx_event'): Promise<number> {
  const { rows } = await lab.node
    .get(Database)
    .query<{ n: string }>({ name: `test_count_${table}`, text: `SELECT count(*) AS n FROM ${table}` }, []);
  return Number(rows[0]?.n);
}

describe('intake', () => {
  it('stores 100 concurrent creates with one requestId once, and all of them name the same tx', async () => {
    const second = await lab.startNode();
    const request = { ...aRequest(), signer: lab.node.signer() };
    const created = await Promise.all(
      Array.from({ length: 100 }, (_, index) => (index % 2 === 0 ? lab.node : second).create(request)),
    );
    expect(new Set(created.map(({ txId }) => txId)).size).toBe(1);
    expect(created.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect([await count('managed_tx'), await count('tx_event')]).toEqual([1, 1]);
  });

  it('refuses the same key with another body, and changes nothing', async () => {
    const request = { ...aRequest(), signer: lab.node.signer() };
    const first = await lab.node.create(request);
    await expect(lab.node.create({ ...request, priority: 7 })).rejects.toMatchObject({
      code: 'idempotency_conflict',
      facts: { txId: first.txId },
    });
    expect(await lab.node.tx(first.txId)).toMatchObject({ priority: 0 });
    expect([await count('managed_tx'), await count('tx_event')]).toEqual([1, 1]);
  });

  it('tells duplicates, conflicts and strangers apart within one batch', async () => {
    const request = { ...aRequest(), signer: lab.node.signer() };
    const stranger = { ...request, signer: { ...request.signer, address: parseAddress(`0x${'9'.repeat(40)}`) } };
    const results = await Promise.allSettled([
      lab.node.create(request),
      lab.node.create(request),
      lab.node.create({ ...request, priority: 1 }),
      lab.node.create(stranger),
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
    const ids = await Promise.all(
      [0, 1].map((index) => lab.node.create({ ...aRequest(), signer: lab.node.signer(index) })),
    );
    expect(new Set(ids.map(({ txId }) => txId)).size).toBe(2);
  });

  it('stores the neighbours of a request that the database refuses', async () => {
    const request = { ...aRequest(), signer: lab.node.signer() };
    // NUL cannot be stored in PostgreSQL text; the HTTP edge refuses it, so this stands for whatever slips through there.
    const poison = { ...request, requestId: 'a\u0000b' };
    const results = await Promise.allSettled([
      lab.node.create({ ...request, requestId: 'a' }),
      lab.node.create(poison),
      lab.node.create({ ...request, requestId: 'b' }),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
});
