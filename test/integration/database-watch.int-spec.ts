import { describe, expect, it } from '@jest/globals';
import { DatabaseWatch } from '../../src/platform/database/database-watch.js';
import { pendingMigrations } from '../../src/platform/database/migrations.js';
import { migrationNames } from '../../src/platform/database/migrations.js';
import { Named } from '../support/fakes/fake-node.js';
import { storedRows } from '../support/stored-rows.js';
import { readableLog } from '../unit/platform/log-lines.js';

const stored = await storedRows();
const { database } = stored.node;
const watchOf = (name: string): DatabaseWatch =>
  new DatabaseWatch(database, database, new Named(name), readableLog().log);
const epochs = (): Promise<{ epoch: string; evidence: string; node_id: string }[]> =>
  stored.read('SELECT epoch, evidence, node_id FROM database_epoch ORDER BY epoch');
const putEpoch = (epoch: number, overrides = {}): Promise<void> =>
  stored.put('database_epoch', {
    epoch,
    evidence: 'first',
    node_id: 'old',
    started_at: `'2026-01-0${epoch}'`,
    ...overrides,
  });

/** As the server says of itself, in a file that it writes for each segment of its log. */
async function server(): Promise<{ system_identifier: string; timeline: number }> {
  const [row] = await stored.read<{ system_identifier: string; timeline: number }>(
    'SELECT system_identifier::text, timeline_id AS timeline FROM pg_control_system(), pg_control_checkpoint()',
  );
  if (!row) throw new Error('the server says nothing of itself');
  return row;
}

describe('a look at the database', () => {
  it('opens the first epoch, of the server and its timeline, and no second one', async () => {
    await watchOf('a').check();
    await watchOf('b').check();
    expect(await epochs()).toEqual([{ epoch: '1', evidence: 'first', node_id: 'a' }]);
    const { system_identifier, timeline } = await server();
    expect(await stored.read('SELECT system_identifier, timeline FROM database_epoch')).toEqual([
      { system_identifier, timeline: `${timeline}` },
    ]);
  });

  it.each([
    ['another server', { system_identifier: '1', timeline: 1 }],
    ['another timeline', { timeline: 77 }],
  ])('that finds %s than the newest epoch had opens one, whatever epochs were before', async (_, newest) => {
    const own = await server();
    await putEpoch(1, own);
    await putEpoch(2, { ...own, ...newest });
    await watchOf('a').check();
    expect(await epochs()).toMatchObject([{ epoch: '1' }, { epoch: '2' }, { epoch: '3', node_id: 'a' }]);
  });

  it('that finds the server of the newest epoch opens none', async () => {
    await putEpoch(1, { system_identifier: '1', timeline: 1 });
    await putEpoch(2, await server());
    await watchOf('a').check();
    expect(await epochs()).toHaveLength(2);
  });

  it('of two nodes at once opens one epoch, and both are told', async () => {
    await putEpoch(1, await server());
    const told: string[] = [];
    const watches = ['a', 'b'].map((name) => {
      const watch = watchOf(name);
      watch.onNewEpoch(() => told.push(name));
      return watch;
    });
    await Promise.all(watches.map((watch) => watch.check()));
    await stored.read('UPDATE database_epoch SET timeline = 77');
    await Promise.all(watches.map((watch) => watch.check()));
    expect(await epochs()).toHaveLength(2);
    expect(told.sort()).toEqual(['a', 'b']);
  });

  it('opens no first epoch in place of one that is gone: signers that were never reconciled are suspects', async () => {
    const watch = watchOf('a');
    await watch.check();
    await stored.read('DELETE FROM database_epoch');
    await watch.check();
    expect(await epochs()).toEqual([{ epoch: '2', evidence: 'epoch_is_gone', node_id: 'a' }]);
  });

  it('notices that the log of the server is shorter than it was', async () => {
    const watch = watchOf('a');
    const told: string[] = [];
    watch.onNewEpoch((evidence) => told.push(evidence));
    await watch.check();
    const asked = database.query.bind(database);
    database.query = (async (statement: { name: string }, values: never) => {
      const answer = await asked(statement as never, values);
      const [row] = answer.rows as { flushed?: string }[];
      if (row?.flushed !== undefined) row.flushed = '1';
      return answer;
    }) as never;
    try {
      await watch.check();
    } finally {
      database.query = asked;
    }
    expect(told).toEqual(['log_went_backwards']);
  });
});

describe('a role that may not ask the server about itself', () => {
  it('looks at the epochs all the same', async () => {
    await putEpoch(1);
    await putEpoch(2);
    const watch = watchOf('a');
    const told: string[] = [];
    watch.onNewEpoch((evidence) => told.push(evidence));
    const asked = database.query.bind(database);
    database.query = (async (statement: { name: string }, values: never) => {
      if (statement.name === 'database_see') throw Object.assign(new Error('permission denied'), { code: '42501' });
      return asked(statement as never, values);
    }) as never;
    try {
      await watch.check();
      expect(told).toEqual([]);
      await putEpoch(3);
      await watch.check();
    } finally {
      database.query = asked;
    }
    expect(told).toEqual(['new_timeline']);
    expect(await epochs()).toHaveLength(3);
  });
});

it('migrations that the database has not had are named, and no others', async () => {
  const names = migrationNames();
  const [last = ''] = names.slice(-1);
  expect(await pendingMigrations(database)).toEqual([]);
  await stored.read(`DELETE FROM migrations WHERE name = '${last}'`);
  expect(await pendingMigrations(database)).toEqual([last]);
  await stored.read(`INSERT INTO migrations (timestamp, name) VALUES (1, '${last}')`);
});
