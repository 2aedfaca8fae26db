import { expect, it } from '@jest/globals';
import { ReadinessProbes } from '../../src/modules/ops/infrastructure/readiness-probes.js';
import { Database } from '../../src/platform/database/database.js';
import { nodeLab } from '../support/node-lab.js';

const lab = nodeLab();

async function answers(): Promise<Record<string, string>> {
  const results = await Promise.all(
    lab.node
      .get(ReadinessProbes)
      .all()
      .map((probe) => probe()),
  );
  return Object.fromEntries(
    results.flatMap((result) => Object.entries(result).map(([name, { status }]) => [name, status])),
  );
}

it('a node on a migrated database that answers is ready', async () => {
  expect(await answers()).toMatchObject({ node: 'up', database: 'up', migrations: 'up' });
});

it('a node whose database lacks a migration is not', async () => {
  await lab.node.get(Database).query({ name: 'test_unmigrate', text: 'DELETE FROM migrations' }, []);
  expect(await answers()).toMatchObject({ node: 'up', database: 'up', migrations: 'down' });
});
