import { expect, it } from '@jest/globals';
import { FLOORS } from '../../src/modules/webhooks/infrastructure/due-floors.js';
import { EnabledEndpoints } from '../../src/modules/webhooks/infrastructure/enabled-endpoints.js';
import { SUBSCRIBERS } from '../../src/modules/webhooks/infrastructure/fan-out.statements.js';
import { planNow, touchedBy } from '../support/plan.js';
import { planDatabase } from '../support/plan-database.js';

const ENDPOINTS = 12_000;
const PAGE = 100;

const lab = planDatabase();

/** Half of them are disabled; each has waiting deliveries. */
async function fill(): Promise<void> {
  await lab.client.query(
    `INSERT INTO webhook_endpoint (endpoint_id, url, secret, disabled_at, disabled_reason)
     SELECT lpad(to_hex(n), 32, '0')::uuid, 'https://example.com/' || n, $1, CASE WHEN n <= $2 / 2 THEN now() END, CASE WHEN n <= $2 / 2 THEN 'test' END
       FROM generate_series(1, $2::int) n`,
    [`whsec_${Buffer.alloc(32).toString('base64')}`, ENDPOINTS],
  );
  await lab.client.query('ANALYZE');
}

it('a page of endpoints costs what it has, however many there are and are disabled, whenever it was planned', async () => {
  const nil = '00000000-0000-0000-0000-000000000000';
  await planNow(lab.client, SUBSCRIBERS, [nil, PAGE]);
  await planNow(lab.client, FLOORS, ['{}', nil, PAGE]);
  await fill();
  for (const mode of ['force_generic_plan', 'force_custom_plan']) {
    await lab.client.query(`SET plan_cache_mode = ${mode}`);
    const pages = [
      await touchedBy(lab.client, SUBSCRIBERS, [`'${nil}'`, String(PAGE)]),
      await touchedBy(lab.client, FLOORS, [`'{}'`, `'${nil}'`, String(PAGE)]),
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
    return (await lab.client.query<{ endpoint_id: string }>(SUBSCRIBERS.text, [after, most])).rows;
  };
  await expect(endpoints.readAll(read)).rejects.toThrow('timeout');
  isSlow = false;
  const all = await endpoints.readAll(read);
  expect(new Set(all.map(({ endpoint_id }) => endpoint_id)).size).toBe(ENDPOINTS / 2);
  expect(asked).toEqual([1_000, 500, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000]);
});
