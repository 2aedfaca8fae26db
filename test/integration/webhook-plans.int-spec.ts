import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { FLOORS } from '../../src/modules/webhooks/infrastructure/due-floors.js';
import { EnabledEndpoints } from '../../src/modules/webhooks/infrastructure/enabled-endpoints.js';
import { SUBSCRIBERS } from '../../src/modules/webhooks/infrastructure/fan-out.statements.js';
import { SESSION_OPTIONS } from '../../src/platform/database/session-settings.js';
import { planNow, touchedBy } from '../support/plan.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const ENDPOINTS = 12_000;
const PAGE = 100;

let database: TestDatabase;
let client: Client;

beforeEach(async () => {
  database = await createTestDatabase();
  client = new Client({ connectionString: database.url, options: SESSION_OPTIONS });
  await client.connect();
});
afterEach(async () => {
  await client.end();
  await database.drop();
});

/** Half of them are disabled; each has waiting deliveries. */
async function fill(): Promise<void> {
  await client.query(
    `INSERT INTO webhook_endpoint (endpoint_id, url, secret, disabled_at, disabled_reason)
     SELECT lpad(to_hex(n), 32, '0')::uuid, 'https://example.com/' || n, $1, CASE WHEN n <= $2 / 2 THEN now() END, CASE WHEN n <= $2 / 2 THEN 'test' END
       FROM generate_series(1, $2::int) n`,
    [`whsec_${Buffer.alloc(32).toString('base64')}`, ENDPOINTS],
  );
  await client.query('ANALYZE');
}

it('a page of endpoints costs what it has, however many there are and are disabled, whenever it was planned', async () => {
  const nil = '00000000-0000-0000-0000-000000000000';
  await planNow(client, SUBSCRIBERS, [nil, PAGE]);
  await planNow(client, FLOORS, ['{}', nil, PAGE]);
  await fill();
  for (const mode of ['force_generic_plan', 'force_custom_plan']) {
    await client.query(`SET plan_cache_mode = ${mode}`);
    const pages = [
      await touchedBy(client, SUBSCRIBERS, [`'${nil}'`, String(PAGE)]),
      await touchedBy(client, FLOORS, [`'{}'`, `'${nil}'`, String(PAGE)]),
    ];
    for (const { rows, indexes } of pages) {
      expect({ mode, indexes, isFew: rows <= 2 * PAGE, rows }).toMatchObject({ isFew: true });
    }
  }
});

it('EnabledEndpoints reads page after page, and half as many in one statement after a failure', async () => {
  await fill();
  const asked: number[] = [];
  let isSlow = true;
  const endpoints = new EnabledEndpoints();
  const read = async (after: string, most: number) => {
    asked.push(most);
    if (isSlow) throw new Error('canceling statement due to statement timeout');
    return (await client.query<{ endpoint_id: string }>(SUBSCRIBERS.text, [after, most])).rows;
  };
  await expect(endpoints.readAll(read)).rejects.toThrow('timeout');
  isSlow = false;
  const all = await endpoints.readAll(read);
  expect(new Set(all.map(({ endpoint_id }) => endpoint_id)).size).toBe(ENDPOINTS / 2);
  expect(asked).toEqual([1_000, 500, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000]);
});
