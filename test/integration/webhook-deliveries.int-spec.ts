import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { ANYONE } from '../../src/kernel/caller.js';
import { DeliveringNode } from '../support/delivering-node.js';
import { storedRows, txIdOf } from '../support/stored-rows.js';
import { until } from '../support/until.js';
import { EncryptAgain } from '../../src/modules/webhooks/application/encrypt-again.js';
import { readableLog } from '../unit/platform/log-lines.js';
import { webhookSecrets } from '../support/webhook-secrets.js';
import { DueFloors } from '../../src/modules/webhooks/infrastructure/due-floors.js';
import { FakeClock } from '../support/fakes/fake-clock.js';
import { NO_REST } from '../support/fakes/fake-pauses.js';
import { markOf, WebhookLab } from '../support/webhook-lab.js';
import { type Shipment, WebhookSender } from '../../src/modules/webhooks/domain/webhook-sender.js';
import { Receiver } from '../unit/webhooks/sender-lab.js';

const lab = new WebhookLab(await storedRows());
const other = new WebhookLab(lab.stored, (await lab.stored.lab.node('third')).database);
const [node, second] = [new DeliveringNode(lab, 'first'), new DeliveringNode(other, 'second')];
const receivers: Receiver[] = [];

/** One for each test, which answers 200 until a test wants something else. */
async function aReceiver(): Promise<Receiver> {
  const receiver = await new Receiver().start();
  receivers.push(receiver);
  return receiver;
}

let receiver: Receiver;

beforeEach(async () => {
  for (const old of receivers.splice(0)) await old.stop();
  receiver = await aReceiver();
  for (const n of [1, 2, 3]) await lab.stored.putTx(n);
});
afterAll(async () => {
  for (const old of receivers) await old.stop();
});

const got = (from = receiver) => from.received.map(({ body }) => markOf(body));
const idsOf = (from = receiver) => from.received.map(({ request }) => request.headers['webhook-id']);
const rowsOf = (id: string) => lab.deliveries(`endpoint_id = '${id}'`);
const allDue = () => lab.run(`UPDATE webhook_delivery SET due_at = now() WHERE status = 'waiting'`);

async function events(tx: number, ...marks: readonly number[]): Promise<void> {
  for (const mark of marks) await lab.commit(tx, mark);
  await lab.fanOutAll();
}

describe('a delivery', () => {
  it('waits for a node that can decrypt the secret, and is no try: not with another key, nor with a secret of another endpoint', async () => {
    const [id, secret] = [randomUUID(), `whsec_${Buffer.alloc(24, 7).toString('base64')}`];
    const [old, young] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const nodeWith = (...keys: Buffer[]) => new DeliveringNode(lab, 'first', { secrets: webhookSecrets(...keys) });
    const encrypted = webhookSecrets(old).encrypted(secret, id);
    await lab.endpoint({ id, url: receiver.url(), secret: encrypted });
    await lab.endpoint({ url: receiver.url(), secret: encrypted });
    await events(1, 1);
    await lab.run(`UPDATE webhook_delivery SET give_up_at = now()`);
    await nodeWith(young).deliverAll();
    await nodeWith().deliverAll();
    const claimEnds = () => lab.run(`UPDATE webhook_delivery SET claimed_until = NULL`);
    await claimEnds();
    await nodeWith(young).deliverAll();
    const waiting = { status: 'waiting', tries: 0, error: null };
    expect([got(), await lab.deliveries()]).toMatchObject([[], [waiting, waiting]]);
    await claimEnds();
    await nodeWith(young, old).deliverAll();
    expect(got()).toEqual([1]);
    expect(await rowsOf(id)).toMatchObject([{ status: 'delivered', tries: 1 }]);

    await lab.endpoints.rotateSecret(id, webhookSecrets(old).encrypted(secret, id), 60_000, ANYONE);
    const again = new EncryptAgain(lab.endpoints, webhookSecrets(young, old), readableLog().log);
    await again.execute(10);
    const stored = await lab.endpoints.secretsOf(id);
    expect(stored.map((text) => webhookSecrets(young).decrypted(text, id))).toEqual([secret, secret]);
    await again.execute(10);
    expect(await lab.endpoints.secretsOf(id)).toEqual(stored);
    const replaced = { id, secrets: stored };
    await lab.endpoints.rotateSecret(id, encrypted, 0, ANYONE);
    expect(await lab.endpoints.replaceSecrets(replaced, stored)).toBe(false);
    expect(await lab.endpoints.secretsOf(id)).toEqual([encrypted]);
  });

  it('is signed, has the id of its event, and is recorded with the answer', async () => {
    const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
    const endpoint = await lab.endpoint({ url: receiver.url(), secret });
    await events(1, 1);
    receiver.answer = (response) => response.end('thanks');
    await node.deliverAll();
    const [{ request, body } = { request: null, body: '' }] = receiver.received;
    const event = new Webhook(secret).verify(body, request?.headers as Record<string, string>);
    expect(event).toMatchObject({ id: idsOf()[0], type: 'tx.submitted', data: { txId: txIdOf(1) } });
    expect(request?.headers).toMatchObject({ 'content-type': 'application/json' });
    expect(await lab.deliveries()).toMatchObject([
      { endpoint_id: endpoint, status: 'delivered', tries: 1, answer_status: 200, answer_body: 'thanks', error: null },
    ]);
  });

  it('is signed with both secrets until the old one ends', async () => {
    const [old, young] = [7, 8].map((byte) => `whsec_${Buffer.alloc(24, byte).toString('base64')}`);
    const id = await lab.endpoint({ url: receiver.url(), secret: old ?? '' });
    await lab.endpoints.rotateSecret(id, young ?? '', 60_000, ANYONE);
    await events(1, 1);
    await node.deliverAll();
    await lab.run(`UPDATE webhook_endpoint SET previous_secret_ends[1] = now()`);
    await events(1, 2);
    await node.deliverAll();
    const accepts = (secret = '', at = 0): boolean => {
      const { request, body } = receiver.received[at] ?? { request: null, body: '' };
      try {
        return new Webhook(secret).verify(body, request?.headers as Record<string, string>) !== null;
      } catch {
        return false;
      }
    };
    expect([accepts(old, 0), accepts(young, 0), accepts(old, 1), accepts(young, 1)]).toEqual([true, true, false, true]);
  });

  it('waits while an earlier one of its tx waits, and goes on after it', async () => {
    const id = await lab.endpoint({ url: receiver.url() });
    await events(1, 1, 2, 3);
    await events(2, 4);
    receiver.answer = (response) => response.writeHead(500).end();
    await node.deliver.execute();
    await node.deliver.idle();
    expect(got().sort()).toEqual([1, 4]);
    const [first, next, last] = await lab.deliveries(`tx_id = '${txIdOf(1)}'`);
    expect([next?.due_at, last?.due_at]).toEqual([first?.due_at, first?.due_at]);
    expect((await lab.endpoints.find(id, ANYONE))?.failingSince).not.toBeNull();
    await allDue();
    receiver.answer = (response) => response.end();
    await node.deliverAll();
    expect(
      got()
        .slice(2)
        .filter((mark) => mark !== 4),
    ).toEqual([1, 2, 3]);
    expect((await lab.endpoints.find(id, ANYONE))?.failingSince).toBeNull();
  });

  it('that is dead lets the next ones of its tx go on', async () => {
    await lab.endpoint({ url: receiver.url() });
    await events(1, 1, 2);
    await lab.run(`UPDATE webhook_delivery SET give_up_at = now() WHERE seq = (SELECT min(seq) FROM webhook_delivery)`);
    receiver.answer = (response) => response.writeHead(receiver.received.length === 1 ? 500 : 200).end();
    await node.deliverAll();
    expect(await lab.deliveries()).toMatchObject([
      { status: 'dead', tries: 1, answer_status: 500 },
      { status: 'delivered' },
    ]);
  });

  it('is sent again with the same id when the node died between the answer and its record', async () => {
    await lab.endpoint({ url: receiver.url() });
    await events(1, 1, 2);
    const dying = new DeliveringNode(lab, 'dying', {
      queue: Object.assign(Object.create(node.queue), { record: () => Promise.reject(new Error('killed')) }),
    });
    await dying.deliver.execute();
    await dying.deliver.idle();
    await node.deliverAll();
    expect(got()).toEqual([1]);
    await lab.run(`UPDATE webhook_delivery SET claimed_until = now() - interval '1 second'`);
    await node.deliverAll();
    expect(got()).toEqual([1, 1, 2]);
    expect(new Set(idsOf()).size).toBe(2);
  });

  it('whose claim has ended is recorded only by the node that has it now', async () => {
    await lab.endpoint({ url: receiver.url() });
    await events(1, 1);
    const release: (() => void)[] = [];
    receiver.answer = (response) => release.push(() => response.end());
    await node.deliver.execute();
    await until('it is at the receiver', async () => release.length === 1);
    await lab.run(`UPDATE webhook_delivery SET claimed_by = 'second'`);
    release[0]?.();
    await node.deliver.idle();
    expect(await lab.deliveries()).toMatchObject([{ status: 'waiting', tries: 0 }]);
  });
});

it('two nodes deliver each once, and those of a tx in order, while nobody dies', async () => {
  await lab.endpoint({ url: receiver.url() });
  await lab.endpoint({ url: receiver.url() });
  for (const mark of [1, 2, 3, 4, 5, 6, 7, 8]) for (const tx of [1, 2, 3]) await lab.commit(tx, mark);
  await lab.fanOutAll();
  await Promise.all([node.deliverAll(), second.deliverAll()]);
  await Promise.all([node.deliverAll(), second.deliverAll()]);
  expect(receiver.received.length).toBe(48);
  for (const tx of [1, 2, 3]) {
    const marks = receiver.received.filter(({ body }) => body.includes(txIdOf(tx))).map(({ body }) => markOf(body));
    expect(marks).toEqual([1, 2, 3, 4, 5, 6, 7, 8].flatMap((mark) => [mark, mark]));
  }
});

describe('a receiver', () => {
  it('that is down for the first ten retries gets everything in the end', async () => {
    const port = receiver.port;
    const url = receiver.url();
    const id = await lab.endpoint({ url });
    await events(1, 1);
    await receivers.pop()?.stop();
    const pauses: number[] = [];
    for (let n = 0; n < 11; n += 1) {
      await node.deliverAll();
      const [row] = await rowsOf(id);
      pauses.push(((row?.due_at.getTime() ?? 0) - (row?.tried_at?.getTime() ?? 0)) / 1_000);
      await allDue();
    }
    expect(await rowsOf(id)).toMatchObject([
      { status: 'waiting', tries: 11, answer_status: null, error: 'connection: refused (ECONNREFUSED)' },
    ]);
    pauses.forEach((pause, n) => {
      expect(pause).toBeGreaterThan(5 * 2 ** n * 0.74);
      expect(pause).toBeLessThan(5 * 2 ** n * 1.01);
    });
    receiver = await new Receiver().start('127.0.0.1', port);
    receivers.push(receiver);
    await node.deliverAll();
    expect(await rowsOf(id)).toMatchObject([{ status: 'delivered', tries: 12, error: null }]);
  });

  it('that answers 410 is disabled, and what waits for it is dead', async () => {
    const id = await lab.endpoint({ url: receiver.url() });
    await events(1, 1, 2);
    receiver.answer = (response) => response.writeHead(410).end('gone');
    await node.deliverAll();
    expect((await lab.endpoints.find(id, ANYONE))?.disabled).toMatchObject({ reason: 'the receiver answered 410' });
    expect(await node.queue.bury(10)).toBe(1);
    expect(await rowsOf(id)).toMatchObject([
      { status: 'dead', answer_status: 410, answer_body: 'gone' },
      { status: 'dead', tries: 0, error: 'disabled: the receiver answered 410' },
    ]);
    await events(1, 3);
    expect((await rowsOf(id)).length).toBe(2);
  });

  it('that answers 429 with Retry-After is left alone for so long', async () => {
    const id = await lab.endpoint({ url: receiver.url() });
    await events(1, 1);
    await events(2, 2);
    receiver.answer = (response) => response.writeHead(429, { 'retry-after': '120' }).end();
    await node.deliverAll();
    await events(3, 3);
    await allDue();
    await node.deliverAll();
    expect(got().sort()).toEqual([1, 2]);
    await lab.run(`UPDATE webhook_delivery SET due_at = tried_at WHERE tried_at IS NOT NULL`);
    const [row] = await rowsOf(id);
    expect(row).toMatchObject({ status: 'waiting', answer_status: 429, tries: 1 });
  });

  it('that asked for a day is not waited for at the next URL of its endpoint, on any node', async () => {
    const id = await lab.endpoint({ url: receiver.url() });
    await events(1, 1);
    receiver.answer = (response) => response.writeHead(429, { 'retry-after': '86400' }).end();
    await node.deliverAll();
    const next = await aReceiver();
    await lab.endpoints.change(id, { url: next.url() }, ANYONE);
    await node.deliverAll();
    expect(next.received.length).toBe(1);
    expect(await rowsOf(id)).toMatchObject([{ status: 'delivered', tries: 2 }]);
  });

  it.each([
    ['410', 410, {}],
    ['429 with Retry-After', 429, { 'retry-after': '86400' }],
    ['500 after many tries', 500, {}],
  ])(
    'that answers %s when its endpoint has another URL by then says nothing of the receiver there',
    async (_, status, headers) => {
      const id = await lab.endpoint({ url: receiver.url() });
      await events(1, 1, 2);
      await lab.run(`UPDATE webhook_delivery SET tries = 12`);
      const release: (() => void)[] = [];
      receiver.answer = (response) => release.push(() => response.writeHead(status, headers).end());
      await node.deliver.execute();
      await until('it is at the receiver', async () => release.length === 1);
      const next = await aReceiver();
      await lab.endpoints.change(id, { url: next.url() }, ANYONE);
      release[0]?.();
      await node.deliver.idle();
      await until('all are delivered', async () => {
        await node.deliverAll();
        return (await rowsOf(id)).every((row) => row.status !== 'waiting');
      });
      expect((await lab.endpoints.find(id, ANYONE))?.disabled).toBeNull();
      expect(got(next)).toEqual([1, 2]);
    },
  );

  it('that redirects to a private address, sends 10 MB, or holds the socket leaves its answer or its fault', async () => {
    const quick = new DeliveringNode(lab, 'quick', { timeoutMs: 300 });
    const [redirects, floods, holds] = [await aReceiver(), await aReceiver(), await aReceiver()];
    redirects.answer = (response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    floods.answer = (response) => response.end(Buffer.alloc(10_000_000, 'x'));
    holds.answer = () => undefined;
    const ids = [];
    for (const one of [redirects, floods, holds]) ids.push(await lab.endpoint({ url: one.url() }));
    await events(1, 1);
    await quick.deliver.execute();
    await quick.deliver.idle();
    const rows = (await Promise.all(ids.map(rowsOf))).flat();
    for (const { status, answer_status, error, answer_body } of rows) {
      process.stdout.write(`${status} ${answer_status} ${answer_body?.length} bytes ${error}\n`);
    }
    expect(rows).toMatchObject([
      { status: 'waiting', answer_status: 302, error: expect.stringMatching(/^redirect: .*169\.254/) },
      { status: 'delivered', answer_status: 200, answer_body: 'x'.repeat(1_024), error: null },
      { status: 'waiting', answer_status: null, error: expect.stringMatching(/^timeout: /) },
    ]);
  });

  it('that is slow, down or silent does not delay another one', async () => {
    const busy = new DeliveringNode(lab, 'busy', { timeoutMs: 1_500, concurrency: 8 });
    const p99 = async (): Promise<number> => {
      const times: number[] = [];
      for (let n = 0; n < 60; n += 1) {
        const begun = performance.now();
        const before = receiver.received.length;
        await events(1, n);
        while (receiver.received.length === before) {
          await busy.deliver.execute();
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
        times.push(performance.now() - begun);
        await until(
          'it is recorded',
          async () => (await lab.deliveries(`status = 'waiting' AND endpoint_id = '${id}'`)).length === 0,
        );
      }
      return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99) - 1] ?? 0;
    };
    const id = await lab.endpoint({ url: receiver.url() });
    const alone = await p99();
    const silent = await aReceiver();
    silent.answer = () => undefined;
    for (let n = 0; n < 3; n += 1) await lab.endpoint({ url: silent.url() });
    await lab.endpoint({ url: 'http://127.0.0.1:1/' });
    const beside = await p99();
    process.stdout.write(
      `p99 from the commit to the receiver: ${alone.toFixed(0)} ms alone, ${beside.toFixed(0)} ms beside 3 silent receivers and one that is down\n`,
    );
    expect(beside).toBeLessThan(Math.max(1_000, alone * 5));
    await busy.deliver.idle();
  });
});

describe('many endpoints', () => {
  const SECRET = `whsec_${Buffer.alloc(24).toString('base64')}`;
  const add = (count: number, name = 'slow') =>
    lab.run(`INSERT INTO webhook_endpoint (endpoint_id, url, secret)
      SELECT gen_random_uuid(), 'https://${name}' || n || '.example.com/', '${SECRET}' FROM generate_series(1, ${count}) n`);
  /** Of each of `txs` txs `events` that are due. */
  const backlog = (txs: number, events: number, where = 'true') =>
    lab.run(`INSERT INTO webhook_delivery (endpoint_id, xid, seq, part, tx_id, type, body, event_at, give_up_at, due_at)
      SELECT e.endpoint_id, (100 + k)::text::xid8, k * 1000 + t, 0, ('02900000-0000-7000-8000-' || lpad(t::text, 12, '0'))::uuid, 'tx.confirmed',
             '{}', now(), now() + interval '3 days', now() - interval '1 minute'
        FROM generate_series(1, ${events}) k, generate_series(1, ${txs}) t, webhook_endpoint e WHERE ${where}`);
  class Holding extends WebhookSender {
    readonly urls: string[] = [];
    override send({ url }: Shipment): Promise<never> {
      this.urls.push(url);
      return new Promise(() => undefined);
    }
  }

  it('with a backlog of the same txs get their webhooks: a claim looks at what waits of its endpoint only', async () => {
    await add(100);
    await backlog(62, 8);
    await lab.run('ANALYZE webhook_delivery, webhook_endpoint');
    const sender = new Holding();
    const began = await new DeliveringNode(lab, 'holding', { sender, concurrency: 64 }).deliver.execute();
    expect(new Set(sender.urls).size).toBe(100);
    expect(began).toBeLessThanOrEqual(4_096);
  }, 60_000);

  it('that answer slowly take no more posts than a node makes at once, and leave some for one that comes later', async () => {
    await add(300);
    await backlog(70, 1);
    const sender = new Holding();
    const { deliver } = new DeliveringNode(lab, 'holding', { sender, concurrency: 64 });
    while ((await deliver.execute()) > 0);
    expect(sender.urls.length).toBeLessThanOrEqual(4_096);
    await add(1, 'fast');
    await backlog(4, 1, `e.url LIKE '%fast%'`);
    await deliver.execute();
    expect(sender.urls.filter((url) => url.includes('fast')).length).toBe(4);
  }, 60_000);

  it('of one host take no place of another of theirs: it waits for no connection, and has no time-outs that are not its own', async () => {
    const quick = new DeliveringNode(lab, 'quick', { timeoutMs: 10_000, concurrency: 64 });
    const slow: (() => void)[] = [];
    receiver.answer = (response, request) =>
      void (request.url?.startsWith('/slow') ? slow.push(() => response.end()) : response.end());
    for (let n = 0; n < 8; n += 1) await lab.endpoint({ url: receiver.url().replace('/hook', `/slow${n}`) });
    await backlog(70, 1);
    await quick.deliver.execute();
    await until('the slow ones have their posts', async () => slow.length >= 100);
    const fast = await lab.endpoint({ url: receiver.url() });
    await backlog(20, 1, `e.endpoint_id = '${fast}'`);
    await until('all is delivered', async () => {
      await quick.deliver.execute();
      return (await rowsOf(fast)).every(({ status }) => status === 'delivered');
    });
    for (const answer of slow) answer();
    await quick.deliver.idle();
    expect(await rowsOf(fast)).toMatchObject(Array.from({ length: 20 }, () => ({ tries: 1, error: null })));
  }, 60_000);
});

describe('an endpoint that fails', () => {
  it('gets few posts at once, until one succeeds', async () => {
    const id = await lab.endpoint({ url: receiver.url() });
    await lab.endpoints.setFailing(id, true);
    for (let n = 4; n < 20; n += 1) await lab.stored.putTx(n);
    for (let n = 4; n < 20; n += 1) await lab.commit(n, n);
    await lab.fanOutAll();
    expect(await node.deliver.execute()).toBe(4);
    await node.deliver.idle();
    expect(await node.deliver.execute()).toBe(12);
    await node.deliver.idle();
  });
});

it('what is disabled or deleted gets nothing that waits for it', async () => {
  const [disabled, deleted] = [
    await lab.endpoint({ url: receiver.url() }),
    await lab.endpoint({ url: receiver.url() }),
  ];
  const well = await lab.endpoint({ url: 'http://127.0.0.1:1/' });
  await events(1, 1);
  await lab.endpoints.disable(disabled, 'test');
  await lab.endpoints.remove(deleted, ANYONE);
  await node.deliverAll();
  expect(got()).toEqual([]);
  expect(await node.queue.bury(10)).toBe(1);
  expect(await lab.deliveries(`endpoint_id = '${well}'`)).toMatchObject([{ status: 'waiting' }]);
  expect(await lab.deliveries(`status = 'dead'`)).toMatchObject([{ endpoint_id: disabled }]);
});

describe('housekeeping', () => {
  const HOUR = 3_600_000;

  it('deletes what ended long ago and what belongs to deleted endpoints, a few at a time', async () => {
    const [kept, deleted] = [await lab.endpoint({ url: receiver.url() }), await lab.endpoint({ url: receiver.url() })];
    const idle = await lab.endpoint({ types: ['tx.failed'] });
    await events(1, 1, 2, 3);
    await node.deliverAll();
    await events(1, 4);
    await lab.endpoints.remove(deleted, ANYONE);
    const at = (n: number) =>
      `seq = (SELECT seq FROM webhook_delivery WHERE endpoint_id = '${kept}' ORDER BY seq OFFSET ${n} LIMIT 1)`;
    await lab.run(`UPDATE webhook_delivery SET ended_at = now() - interval '2 hours' WHERE ${at(0)}`);
    await lab.run(`UPDATE webhook_delivery SET ended_at = now() - interval '2 hours', status = 'dead' WHERE ${at(1)}`);
    expect(await node.queue.prune(HOUR, 3 * HOUR, 2)).toBe(3);
    while ((await node.queue.prune(HOUR, 3 * HOUR, 2)) > 0);
    expect(await lab.deliveries()).toMatchObject([
      { endpoint_id: kept, status: 'dead' },
      { endpoint_id: kept, status: 'delivered' },
      { endpoint_id: kept, status: 'waiting' },
    ]);
    expect(await node.queue.prune(HOUR, HOUR, 2)).toBe(1);
    await lab.run(`UPDATE webhook_endpoint SET deleted_at = now() - interval '2 hours' WHERE deleted_at IS NOT NULL`);
    await node.queue.prune(HOUR, HOUR, 2);
    const left = await lab.stored.read<{ endpoint_id: string }>('SELECT endpoint_id FROM webhook_endpoint');
    expect(left.map(({ endpoint_id }) => endpoint_id).sort()).toEqual([kept, idle].sort());
  });

  it('is done by one node at a time', async () => {
    await lab.database.transaction(async (tx) => {
      await tx.query({ name: 'test_prune_lock', text: 'SELECT pg_advisory_xact_lock(7250318)' }, []);
      const deleted = await lab.endpoint();
      await other.endpoints.remove(deleted, ANYONE);
      await lab.run(`UPDATE webhook_endpoint SET deleted_at = now() - interval '2 hours'`);
      expect(await second.queue.prune(0, 0, 10)).toBe(0);
      expect((await lab.stored.read('SELECT FROM webhook_endpoint')).length).toBe(1);
    });
  });
});

it('a delivery that is committed long after its due time is found within half a minute', async () => {
  const clock = new FakeClock();
  const floors = new DueFloors(lab.database, clock, NO_REST);
  await lab.endpoint({ url: receiver.url() });
  await events(1, 1, 2);
  const second = 'seq = (SELECT max(seq) FROM webhook_delivery)';
  await lab.run(`UPDATE webhook_delivery SET due_at = now() + interval '1 hour'`);
  await floors.ofWaiting();
  await lab.run(`UPDATE webhook_delivery SET due_at = now() - interval '1 minute' WHERE ${second}`);
  const covers: boolean[] = [];
  for (let tries = 0; tries < 3; tries++) {
    clock.advance(10_000);
    const [{ floor } = { floor: '' }] = await floors.ofWaiting();
    const [row] = await lab.deliveries(second);
    covers.push(new Date(floor) <= (row?.due_at ?? new Date(0)));
  }
  expect(covers).toEqual([false, false, true]);
});

it('the backlog says what waits, how old it is, and who fails', async () => {
  const [one, none] = [await lab.endpoint({ types: ['tx.submitted'] }), await lab.endpoint({ types: ['tx.failed'] })];
  await lab.endpoints.setFailing(none, true);
  await events(1, 1, 2);
  await lab.run(`UPDATE webhook_delivery SET event_at = now() - interval '1 minute'`);
  const backlog = await node.queue.backlog();
  expect(backlog.find(({ endpointId }) => endpointId === one)).toMatchObject({ waiting: 2, isFailing: false });
  expect(backlog.find(({ endpointId }) => endpointId === one)?.ageSeconds).toBeGreaterThanOrEqual(60);
  expect(backlog.find(({ endpointId }) => endpointId === none)).toMatchObject({ waiting: 0, isFailing: true });
});
