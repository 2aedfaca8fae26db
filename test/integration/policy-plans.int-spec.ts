import { expect, it } from '@jest/globals';
import { POLICY_NEWS } from '../../src/modules/policies/infrastructure/pg-stored-policies.js';
import { planNow, touchedBy } from '../support/plan.js';
import { planDatabase } from '../support/plan-database.js';

const VERSIONS = 20_000;
const SIGNERS = 4;

const database = planDatabase();

it('a node that knows a policy reads what changed since then, and one that knows none reads one version of each signer', async () => {
  const { client } = database;
  await client.query(
    `INSERT INTO signer (chain_id, address, custody) SELECT 1, '0x' || lpad(n::text, 40, '0'), '{}' FROM generate_series(1, $1::int) n`,
    [SIGNERS],
  );
  await client.query(
    `INSERT INTO signer_policy (chain_id, signer, version, rules, changed_by)
     SELECT 1, '0x' || lpad((1 + v % $2)::text, 40, '0'), 1 + v / $2, '{}', 'key:1' FROM generate_series(0, $1::int - 1) v`,
    [VERSIONS, SIGNERS],
  );
  await client.query('ANALYZE');
  const { rows } = await client.query<{ mark: string }>(
    `SELECT seq || ' ' || extract(epoch FROM changed_at) AS mark FROM signer_policy WHERE seq = $1`,
    [VERSIONS - 2],
  );
  const { mark = '' } = rows[0] ?? {};
  await planNow(client, POLICY_NEWS, [mark, VERSIONS - 2]);
  for (const mode of ['force_custom_plan', 'force_generic_plan']) {
    await client.query(`SET plan_cache_mode = ${mode}`);
    for (const args of [
      [`'${mark}'`, `${VERSIONS - 2}`],
      [`'unread'`, 'NULL'],
    ]) {
      const touched = await touchedBy(client, POLICY_NEWS, args);
      expect({ mode, args, touched, reads: touched.rows <= 20 }).toMatchObject({ reads: true });
    }
  }
});
