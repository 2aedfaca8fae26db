import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { Service } from '../support/service.js';
import { sendStrange, StrangeRequests, wrongWith } from '../support/strange-requests.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const REQUESTS = 1_000;

let database: TestDatabase;
let service: Service;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await Service.start({ databaseUrl: database.url, ...StrangeRequests.service });
});
afterAll(async () => {
  await service.stop();
  await database.drop();
});

/** The number of rows of each table that requests write. */
async function stored(): Promise<unknown> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query(
    `SELECT (SELECT count(*) FROM managed_tx) AS txs, (SELECT count(*) FROM tx_command) AS commands,
            (SELECT count(*) FROM webhook_endpoint) AS webhooks, (SELECT count(*) FROM signer_pause) AS pauses,
            (SELECT count(*) FROM api_key) AS keys`,
  );
  await client.end();
  return rows;
}

it.each([3, 4])('no request is an internal error, hangs, or costs a lease: seed %i', async (seed) => {
  const requests = await StrangeRequests.of(service, seed);
  const statuses = new Set<number>();
  for (let n = 0; n < REQUESTS; n += 1) {
    const asked = requests.next();
    const answer = await sendStrange(service.url, asked);
    statuses.add(answer.status);
    const { kind, method, path, body } = asked;
    const wrong = wrongWith(answer);
    expect({ n, kind, wrong, request: wrong && `${method} ${path} ${body}`.slice(0, 500) }).toEqual({
      n,
      kind,
      wrong: null,
      request: null,
    });
  }
  expect([...statuses]).toEqual(expect.arrayContaining([200, 400, 404, 413]));
  expect([service.logged('http.internal_error'), service.logged('lease lost')]).toEqual([[], []]);
});

it('without a key no request is an internal error, and nothing is stored', async () => {
  const requests = await StrangeRequests.of(service, 5);
  const guarded = await Service.start({
    databaseUrl: database.url,
    ...StrangeRequests.service,
    config: { ...StrangeRequests.service.config, auth: { mode: 'apiKeys' } },
  });
  try {
    const before = await stored();
    const statuses = new Set<number>();
    for (let n = 0; n < REQUESTS; n += 1) {
      const asked = requests.next();
      const answer = await sendStrange(guarded.url, asked);
      statuses.add(answer.status);
      const { kind, method, path, body } = asked;
      const isOpen = !path.startsWith('/api/');
      const wrong = wrongWith(answer) ?? (answer.status < 400 && !isOpen ? `${answer.status}` : null);
      const request = wrong && `${method} ${path} ${body}`.slice(0, 500);
      expect({ n, kind, wrong, request }).toEqual({ n, kind, wrong: null, request: null });
    }
    // Who has no key is told before the size of a body counts.
    expect([statuses.has(401), statuses.has(413)]).toEqual([true, false]);
    expect(await stored()).toEqual(before);
    expect(guarded.logged('http.internal_error')).toEqual([]);
  } finally {
    await guarded.stop();
  }
});

it('a thousand clients that come at once, while the process is busy, are connected', async () => {
  const sockets: Socket[] = [];
  const connected = () => sockets.filter(({ readyState }) => readyState === 'open').length;
  service.signal('SIGSTOP');
  try {
    for (let n = 0; n < 1_000; n += 1) sockets.push(connect(Number(new URL(service.url).port), '127.0.0.1'));
    await until('all are connected', async () => connected() === sockets.length, 10_000);
  } finally {
    for (const socket of sockets) socket.destroy();
    service.signal('SIGCONT');
  }
});
