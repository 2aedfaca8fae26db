import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { DatabaseConfig, NodeConfig } from '../../../src/config/index.js';
import type { LeaseManager } from '../../../src/modules/signers/index.js';
import { PgDoorbell } from '../../../src/modules/ledger/infrastructure/pg-doorbell.js';
import type { Database } from '../../../src/platform/database/database.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { readableLog } from '../platform/log-lines.js';
import { type LaneWaker } from '../../../src/modules/ledger/application/writing/doorbell.js';

let server: Server;
const sockets: Socket[] = [];

/** Takes connections and never says a word. */
beforeEach(async () => {
  server = createServer((socket) => sockets.push(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

it('a server that takes the connection and says nothing does not hold the start: the bell is off, and polling finds work', async () => {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : null;
  const config = Object.assign(new DatabaseConfig(), {
    url: `postgres://lockstep@127.0.0.1:${port}/lockstep`,
    statementTimeout: 50,
  });
  const { log, lines } = readableLog();
  const unused = {} as unknown;
  const bell = new PgDoorbell(
    unused as Database,
    config,
    new NodeConfig(),
    unused as LaneWaker,
    unused as LeaseManager,
    new FakeClock(),
    log,
  );
  await bell.onApplicationBootstrap();
  expect(lines).toMatchObject([{ msg: 'doorbell connection lost, polling for work instead' }]);
  await bell.onModuleDestroy();
}, 5_000);
