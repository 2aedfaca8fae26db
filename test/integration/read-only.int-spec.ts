import { describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { ReadinessProbes } from '../../src/modules/ops/infrastructure/readiness-probes.js';
import { Database } from '../../src/platform/database/database.js';
import { aRequest } from '../support/builders.js';
import { nodeLab } from '../support/node-lab.js';
import { until } from '../support/until.js';

const lab = nodeLab();

describe('a database that turns read-only, as in a failover', () => {
  it('answers creates with a retryable 503, once for all of a batch, and takes them as soon as it is back', async () => {
    const statements = insertsOf(lab.node.get(Database));
    await readOnly(true);
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, (_, tag) => create(tag)));
    expect(outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason : 'stored'))).toEqual(
      outcomes.map(() =>
        expect.objectContaining({ code: 'database_unavailable', kind: 'unavailable', retryable: true }),
      ),
    );
    expect(statements()).toBe(1);
    // Its connections to the old server are given up, so nobody has to end them.
    await readOnly(false, 'keep the connections');
    await expect(create(1)).resolves.toMatchObject({ isNew: true });
  });

  it('is not ready, and is ready again as soon as it is back', async () => {
    const probes = lab.node.get(ReadinessProbes);
    const shows = (wanted: object) => (): Promise<boolean> =>
      Promise.all(probes.all().map((probe) => probe())).then((answers) =>
        answers.some(
          ({ database }) =>
            database !== undefined && Object.entries(wanted).every(([name, value]) => database[name] === value),
        ),
      );
    await readOnly(true);
    await until('the probe is red', shows({ status: 'down', message: 'the database server is read-only' }));
    await readOnly(false, 'keep the connections');
    await until('the probe is green', shows({ status: 'up' }));
  });

  it('fails no transaction of a lane: the same step succeeds later', async () => {
    const txId = await lab.create(1);
    await lab.node.step();
    const next = await lab.create(2);
    await readOnly(true);
    await expect(lab.node.step()).rejects.toMatchObject({ code: 'database_unavailable' });
    await readOnly(false, 'keep the connections');
    await lab.node.step();
    expect(await lab.states([txId, next])).toEqual(['IN_MEMPOOL', 'IN_MEMPOOL']);
  });
});

function create(tag: number): ReturnType<typeof lab.node.create> {
  return lab.node.create({ ...aRequest(), signer: lab.node.signer(), requestId: `r-${tag}` });
}

/** Sessions that begin from now on; without `keep`, those that are open are ended. */
async function readOnly(on: boolean, keep?: 'keep the connections'): Promise<void> {
  const { url } = lab.node.get(Database).dataSource.options as { url: string };
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query('SET default_transaction_read_only = off');
  const { rows } = await client.query<{ name: string }>('SELECT current_database() AS name');
  await client.query(`ALTER DATABASE ${rows[0]?.name} SET default_transaction_read_only = ${on ? 'on' : 'off'}`);
  if (keep === undefined) {
    await client.query(
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
  }
  await client.end();
}

/** How many inserts of the intake were tried from now on. */
function insertsOf(database: Database): () => number {
  let count = 0;
  const query = database.query.bind(database);
  database.query = async (statement, values) => {
    if (statement.name === 'tx_insert_pending') count += 1;
    return query(statement, values);
  };
  return () => count;
}
