import { expect, it } from '@jest/globals';
import { ReadinessProbes } from '../../src/modules/ops/infrastructure/readiness-probes.js';
import { Database } from '../../src/platform/database/database.js';
import { aSigner, DEV_CHAIN } from '../support/builders.js';
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

type Cause = 'LOWER_NONCE' | 'CHAIN_RESET' | null;

it.each<[string, readonly [number, Cause][], object]>([
  [
    'no signer is behind',
    [
      [DEV_CHAIN, null],
      [7, 'CHAIN_RESET'],
    ],
    { status: 'up', message: undefined, signersBehind: undefined },
  ],
  [
    'one of two signers is behind',
    [
      [DEV_CHAIN, null],
      [DEV_CHAIN, 'LOWER_NONCE'],
    ],
    { status: 'degraded', message: 'the chain is behind our books: signers are held', signersBehind: 1 },
  ],
  [
    'one of two signers that are behind tells of a reset',
    [
      [DEV_CHAIN, 'LOWER_NONCE'],
      [DEV_CHAIN, 'CHAIN_RESET'],
    ],
    { status: 'degraded', message: 'the chain was reset: signers are held', signersBehind: 2 },
  ],
])('tells of a chain on which %s', async (_, cursors, expected) => {
  for (const [index, [chain, cause]] of cursors.entries())
    await lab.node.get(Database).query(
      {
        name: 'test_cursor',
        text: `INSERT INTO signer_nonce_cursor (chain_id, signer, next_nonce, fencing_token, last_synced_at, behind, behind_since)
               VALUES ($1, $2, 1, 1, now(), $3, CASE WHEN $3::jsonb IS NOT NULL THEN now() END)`,
      },
      [chain, aSigner(index).address, cause && JSON.stringify({ cause })],
    );
  const results = await Promise.all(
    lab.node
      .get(ReadinessProbes)
      .all()
      .map((probe) => probe()),
  );
  const { status, message, signersBehind } = Object.assign({}, ...results)[`chain-${DEV_CHAIN}`];
  expect({ status, message, signersBehind }).toEqual(expected);
});

it('shows the stop of everything also beside the pauses of many signers', async () => {
  const text = `INSERT INTO signer_pause (chain_id, signer, by) SELECT $1, '0x' || lpad(n::text, 40, '0'), 'op' FROM generate_series(1, 12) n
                UNION ALL SELECT 0, '', 'op'`;
  await lab.node.get(Database).query({ name: 'test_pauses', text }, [DEV_CHAIN]);
  const results = await Promise.all(
    lab.node
      .get(ReadinessProbes)
      .all()
      .map((probe) => probe()),
  );
  const { status, pauses } = Object.assign({}, ...results)['signers'];
  expect([status, pauses.length, pauses[0]]).toMatchObject(['degraded', 10, { chainId: null, signer: null, by: null }]);
});
