import { expect, it } from '@jest/globals';
import { PUBLISHED_REASONS } from '../../src/modules/events/domain/publish.js';
import { PAGE } from '../../src/modules/events/infrastructure/pg-event-reader.js';
import { DELETE_EVENTS } from '../../src/modules/retention/infrastructure/retention.statements.js';
import { aHash, aSigner, DEV_CHAIN } from '../support/builders.js';
import { planNow, touchedBy } from '../support/plan.js';
import { planDatabase } from '../support/plan-database.js';

const EVENTS = 40_000;
const EVENTS_OF_A_TX = 8;
const EVENTS_OF_A_COMMIT = 200;
const PAGE_ROWS = 100;
/** Low ids, so that no open database transaction of another test holds them back. */
const XID_OF = (n: string): string => `(3 + ${n} / ${EVENTS_OF_A_COMMIT})`;

const lab = planDatabase();

async function fillLog(): Promise<void> {
  await lab.client.query(
    `INSERT INTO managed_tx (tx_id, chain_id, signer, request_id, request_hash, value, data, options, priority, state)
     SELECT lpad(to_hex(n), 32, '0')::uuid, ${DEV_CHAIN}, '${aSigner(1).address}', 'request-' || n, '${aHash(1)}', 0, '', '{}', 0, 'CANCELLED'
       FROM generate_series(0, ${EVENTS / EVENTS_OF_A_TX}) AS n`,
  );
  await lab.client.query(
    `INSERT INTO tx_event (xid, chain_id, tx_id, reason, to_state, node_id, created_at)
     SELECT ${XID_OF('n')}::text::xid8, ${DEV_CHAIN}, lpad(to_hex(n / ${EVENTS_OF_A_TX}), 32, '0')::uuid, 'sent', 'IN_MEMPOOL', 'first', now() - interval '2 hours'
       FROM generate_series(0, ${EVENTS - 1}) AS n`,
  );
  await lab.client.query('VACUUM ANALYZE');
}

it('a page of the log costs the same at the beginning, in the middle and at the end, whenever it was planned', async () => {
  const reasons = `'{${PUBLISHED_REASONS.join()}}'`;
  await planNow(lab.client, PAGE, ['0', 0, PAGE_ROWS, PUBLISHED_REASONS, null, null, null]);
  await fillLog();
  for (const mode of ['force_generic_plan', 'force_custom_plan']) {
    await lab.client.query(`SET plan_cache_mode = ${mode}`);
    const pages: number[] = [];
    for (const n of [0, EVENTS / 2, EVENTS - PAGE_ROWS]) {
      const { rows } = await lab.client.query<{ xid: string }>(`SELECT ${XID_OF('$1::int')}::text AS xid`, [n]);
      const touched = await touchedBy(lab.client, PAGE, [
        `'${rows[0]?.xid}'`,
        '0',
        String(PAGE_ROWS),
        reasons,
        'NULL',
        'NULL',
        'NULL',
      ]);
      expect({ mode, n, indexes: touched.indexes }).toMatchObject({
        indexes: expect.arrayContaining(['managed_tx_pkey', 'tx_event_pkey']),
      });
      expect(touched.rows).toBeLessThan(PAGE_ROWS * 5);
      pages.push(touched.pages);
    }
    expect(Math.max(...pages)).toBeLessThan(Math.min(...pages) * 1.5);
  }
});

it('a batch of deletions reads only what it looks at, whenever it was planned', async () => {
  const batch = String(PAGE_ROWS);
  await planNow(lab.client, DELETE_EVENTS, ['0', 0, PAGE_ROWS, 3_600_000]);
  await fillLog();
  for (const mode of ['force_generic_plan', 'force_custom_plan']) {
    await lab.client.query(`SET plan_cache_mode = ${mode}`);
    const { rows } = await touchedBy(lab.client, DELETE_EVENTS, [
      `'${EVENTS / EVENTS_OF_A_COMMIT / 2}'`,
      '0',
      batch,
      '3600000',
    ]);
    expect(rows).toBeGreaterThanOrEqual(PAGE_ROWS);
    expect(rows).toBeLessThan(PAGE_ROWS * 5);
  }
});
