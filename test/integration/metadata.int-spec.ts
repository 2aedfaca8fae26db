import { describe, expect, it } from '@jest/globals';
import type { QueryResult } from 'pg';
import { Database } from '../../src/platform/database/database.js';
import { nodeLab } from '../support/node-lab.js';

const lab = nodeLab();

describe('metadata', () => {
  it('is never read by a lane, from the first look to the last confirmation', async () => {
    const metadata = { note: 'x'.repeat(10_000) };
    const read = columnsReadBy(lab.node.get(Database));
    const txId = await lab.create(1, { metadata });
    await lab.node.step();
    await lab.resubmit();
    await lab.node.checkReceipts();
    await lab.confirmAll();
    const next = await lab.takeOver();
    await next.step();
    expect([...read].filter((column) => column === 'metadata')).toEqual([]);
    expect(read).toContain('request_hash');
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', metadata });
  });

  it('has a limit in bytes, above which nothing is stored and the answer says what to do', async () => {
    // Three bytes each.
    const metadata = { note: '€'.repeat(6_000) };
    await expect(lab.create(1, { metadata })).rejects.toMatchObject({
      kind: 'unprocessable',
      code: 'metadata_too_large',
      facts: { bytes: 18_011, maxBytes: 16_384 },
    });
    await expect(lab.create(1, { metadata: { note: 'x'.repeat(16_384 - 11) } })).resolves.toBeDefined();
  });
});

/** Names of the columns that statements answered, as the work goes on. */
function columnsReadBy(database: Database): ReadonlySet<string> {
  const columns = new Set<string>();
  const query = database.query.bind(database);
  database.query = async (statement, values): Promise<QueryResult<never>> => {
    const result = await query<never>(statement, values);
    for (const { name } of result.fields) columns.add(name);
    return result;
  };
  return columns;
}
