import { expect, it } from '@jest/globals';
import type { Database } from '../../../src/platform/database/database.js';
import { DatabaseWatch } from '../../../src/platform/database/database-watch.js';
import type { HeartbeatDatabase } from '../../../src/platform/database/pools.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const SEEN = {
  epoch: '1',
  started_at: '2025-01-01',
  system_identifier: 'server',
  timeline: '1',
  server: 'server',
  server_timeline: '1',
  flushed: '100',
};

it('a connection that is made during a look has another look made: it may lead to another server', async () => {
  let looks = 0;
  const database = {
    connects: 1,
    query: async () => {
      looks += 1;
      if (looks === 1) database.connects += 1;
      return { rows: [SEEN] };
    },
  };
  const watch = new DatabaseWatch(
    database as unknown as Database,
    {} as unknown as HeartbeatDatabase,
    { id: 'node-a' },
    new RecordingLog(),
  );
  for (const expected of [1, 2, 2]) {
    await watch.lookIfReconnected();
    expect(looks).toBe(expected);
  }
});
