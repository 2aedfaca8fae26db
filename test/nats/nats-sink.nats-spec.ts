import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DiscardPolicy } from '@nats-io/jetstream';
import { messageOf } from '../../src/modules/broker/application/feed-sink.js';
import type { PublicEvent } from '../../src/modules/events/index.js';
import { type EventSink, PublishFailed } from '../../src/sinks/event-sink.js';
import { NatsBroker } from '../../src/sinks/nats/nats-sink.js';
import { aSigner, DEV_CHAIN } from '../support/builders.js';
import { NatsServer } from '../support/nats-server.js';
import { aPublicEvent } from '../support/public-events.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import { FakeMetrics } from '../support/fakes/fake-metrics.js';

const STREAM = 'LOCKSTEP';
const PREFIX = 'lockstep.events';
const USERS = `authorization { users = [
  { user: admin, password: secret },
  { user: reader, password: secret, permissions: { publish: "elsewhere.>" } } ] }`;

let server: NatsServer;
let metrics: FakeMetrics;
let open: EventSink[];

const isConnected = (): boolean => metrics.values('broker_connected').at(-1) === 1;

function sinkWith(config: Partial<NatsBroker> = {}): EventSink {
  const broker = Object.assign(new NatsBroker(), { urls: [server.url], user: 'admin', password: 'secret' }, config);
  const sink = broker.createSink(metrics);
  open.push(sink);
  return sink;
}

const event = (row: number, overrides: Partial<PublicEvent> = {}) => messageOf(aPublicEvent(row, overrides));
const events = (...rows: number[]) => rows.map((row) => event(row));
const rowsOf = (messages: readonly { readonly body: { readonly data: unknown } }[]) =>
  messages.map(({ body }) => (body.data as { row: number }).row);
const stored = async () => rowsOf(await server.messagesOf(STREAM));

async function failureOf(publishing: Promise<void>): Promise<PublishFailed> {
  const error: unknown = await publishing.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof PublishFailed)) throw new Error(`no PublishFailed: ${String(error)}`);
  return error;
}

beforeEach(async () => {
  [metrics, open] = [new FakeMetrics(), []];
  server = await NatsServer.start(USERS, { user: 'admin', pass: 'secret' });
});
afterEach(async () => {
  await Promise.all(open.map((sink) => sink.close()));
  await server.stop();
});

describe('a stream', () => {
  beforeEach(() => server.addStream({ name: STREAM, subjects: [`${PREFIX}.>`] }));

  it('gets each event on the subject of its signer, with its id, its type and its body', async () => {
    await sinkWith().publish([event(1), event(2, { signer: aSigner(2).address, type: 'tx.confirmed' })]);
    expect(await server.messagesOf(STREAM)).toEqual([
      {
        subject: `${PREFIX}.${DEV_CHAIN}.${aSigner().address}`,
        id: '7-1-0',
        type: 'tx.submitted',
        body: { id: '7-1-0', type: 'tx.submitted', version: 1, time: '2025-01-01T00:00:00.000Z', data: { row: 1 } },
      },
      expect.objectContaining({ subject: `${PREFIX}.${DEV_CHAIN}.${aSigner(2).address}`, type: 'tx.confirmed' }),
    ]);
  });

  it('stores an event once that is published twice', async () => {
    await sinkWith().publish(events(1, 2, 3));
    await sinkWith().publish(events(2, 3, 4));
    expect(await stored()).toEqual([1, 2, 3, 4]);
    expect(metrics.counted('broker_events_total')).toEqual({ stored: 4, duplicate: 2 });
  });

  it('stores nothing behind an event that it refuses, and says which one and what to do', async () => {
    await server.with(({ streams }) => streams.update(STREAM, { max_msg_size: 1_000 }));
    const large = event(3, { data: { row: 3, text: 'x'.repeat(1_000) } });
    const sink = sinkWith();
    const failure = await failureOf(sink.publish([...events(1, 2), large, ...events(4, 5)]));
    expect(failure).toMatchObject({
      code: 'broker_refused',
      message: `event 7-3-0 is too large for stream ${STREAM}`,
      advice: expect.stringContaining('max_msg_size'),
      stored: 2,
    });
    expect(await stored()).toEqual([1, 2]);
    expect(metrics.counted('broker_events_total')).toEqual({ stored: 2 });
    await server.with(({ streams }) => streams.update(STREAM, { max_msg_size: -1 }));
    await sink.publish([large, ...events(4, 5)]);
    expect(await stored()).toEqual([1, 2, 3, 4, 5]);
  });

  it('does not get an event that is too large for the server, nor what is behind it', async () => {
    const large = event(2, { data: { row: 2, text: 'x'.repeat(1_100_000) } });
    const failure = await failureOf(sinkWith().publish([event(1), large, event(3)]));
    expect(failure).toMatchObject({ code: 'broker_refused', message: expect.stringContaining('7-2-0'), stored: 1 });
    expect(await stored()).toEqual([1]);
  });

  it('that is full refuses in words of the server', async () => {
    await server.with(({ streams }) => streams.update(STREAM, { max_msgs: 2, discard: DiscardPolicy.New }));
    const failure = await failureOf(sinkWith().publish(events(1, 2, 3, 4)));
    expect(failure).toMatchObject({
      code: 'broker_refused',
      message: expect.stringContaining('maximum messages'),
      stored: 2,
    });
  });

  it('that others write to at the same time gets all events in order', async () => {
    const sink = sinkWith();
    const total = 3_000;
    await server.with(async (_streams, connection) => {
      const noise = { stopped: false };
      const making = (async () => {
        while (!noise.stopped) {
          connection.publish(`${PREFIX}.others`, '{"data":{}}');
          await connection.flush();
        }
      })();
      for (let row = 1; row <= total; row += 500)
        await sink.publish(events(...Array.from({ length: 500 }, (_, n) => row + n)));
      noise.stopped = true;
      await making;
    });
    const messages = await server.messagesOf(STREAM);
    expect(messages.length).toBeGreaterThan(total);
    const ours = messages.filter(({ subject }) => !subject.endsWith('others'));
    expect(rowsOf(ours)).toEqual(Array.from({ length: total }, (_, n) => n + 1));
  });

  it('is reached again on a new connection after the server was killed', async () => {
    const sink = sinkWith();
    await sink.publish(events(1, 2));
    expect(isConnected()).toBe(true);
    await server.kill();
    await until('the lost connection is seen', async () => !isConnected());
    expect(await failureOf(sink.publish(events(3)))).toMatchObject({ code: 'broker_unreachable', stored: 0 });
    await server.boot();
    await sink.publish(events(3));
    expect(await stored()).toEqual([1, 2, 3]);
    expect(isConnected()).toBe(true);
  });

  it('that answers no more is given up in time, and gets the events once and in order when it answers again', async () => {
    const proxy = await TcpProxy.listen(server.url);
    try {
      const sink = sinkWith({ urls: [proxy.url] });
      await sink.publish(events(1));
      proxy.set('black-hole');
      expect(await failureOf(sink.publish(events(2, 3, 4)))).toMatchObject({ code: 'broker_unreachable', stored: 0 });
      expect(isConnected()).toBe(false);
      proxy.heal();
      await sink.publish(events(2, 3, 4));
      expect(await stored()).toEqual([1, 2, 3, 4]);
    } finally {
      await proxy.stop();
    }
  });

  it('that stored events whose acknowledgements were lost does not store them again', async () => {
    const proxy = await TcpProxy.listen(server.url);
    try {
      const sink = sinkWith({ urls: [proxy.url] });
      await sink.publish(events(1));
      proxy.set('drop-answers');
      expect(await failureOf(sink.publish(events(2, 3, 4)))).toMatchObject({ code: 'broker_unreachable', stored: 0 });
      expect(await stored()).toEqual([1, 2, 3, 4]);
      proxy.heal();
      await sink.publish(events(2, 3, 4, 5));
      expect(await stored()).toEqual([1, 2, 3, 4, 5]);
      expect(metrics.counted('broker_events_total')).toEqual({ stored: 2, duplicate: 3 });
    } finally {
      await proxy.stop();
    }
  });

  it('is reached through the one server of several that lives', async () => {
    for (let round = 1; round <= 5; round += 1)
      await sinkWith({ urls: ['nats://127.0.0.1:1', server.url] }).publish(events(round));
    expect(await stored()).toEqual([1, 2, 3, 4, 5]);
  });
});

describe('a failure', () => {
  it('says that the credentials are wrong', async () => {
    expect(await failureOf(sinkWith({ password: 'wrong' }).publish(events(1)))).toMatchObject({
      code: 'broker_refused',
      message: 'the broker refuses the credentials',
      advice: expect.stringContaining('password'),
    });
  });

  it('says that there is no stream, and what to create', async () => {
    const failure = await failureOf(sinkWith().publish(events(1, 2)));
    expect(failure).toMatchObject({
      code: 'broker_refused',
      message: `no stream takes messages to ${PREFIX}.>`,
      stored: 0,
    });
    expect(failure.advice).toContain(`create stream ${STREAM} with the subjects ${PREFIX}.>`);
  });

  it('says that the subjects belong to another stream', async () => {
    await server.addStream({ name: 'OTHER', subjects: [`${PREFIX}.>`] });
    const failure = await failureOf(sinkWith().publish(events(1)));
    expect(failure).toMatchObject({
      code: 'broker_refused',
      message: expect.stringContaining(`another stream than ${STREAM}`),
    });
    expect(await server.countOf('OTHER')).toBe(0);
  });

  it('says that the user may not publish', async () => {
    await server.addStream({ name: STREAM, subjects: [`${PREFIX}.>`] });
    const failure = await failureOf(sinkWith({ user: 'reader' }).publish(events(1)));
    expect(failure).toMatchObject({ code: 'broker_refused', message: expect.stringContaining('may not publish') });
  });
});

describe('with createStream', () => {
  it('a missing stream is created, and finds duplicates for ten minutes', async () => {
    await sinkWith({ createStream: true }).publish(events(1));
    await sinkWith({ createStream: true }).publish(events(2));
    expect(await stored()).toEqual([1, 2]);
    const { config } = await server.with(({ streams }) => streams.info(STREAM));
    expect(config).toMatchObject({ subjects: [`${PREFIX}.>`], duplicate_window: 600e9, max_age: 7 * 86_400e9 });
  });

  it('a stream that exists stays as it is', async () => {
    await server.addStream({ name: STREAM, subjects: [`${PREFIX}.>`, 'more'], max_msgs: 10 });
    await sinkWith({ createStream: true }).publish(events(1));
    const { config } = await server.with(({ streams }) => streams.info(STREAM));
    expect(config).toMatchObject({ subjects: [`${PREFIX}.>`, 'more'], max_msgs: 10 });
  });
});
