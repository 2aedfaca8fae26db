import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseHash, parseHex } from '../../../src/kernel/hex.js';
import type { BroadcastOutcome } from '../../../src/modules/chain/domain/broadcast-outcome.js';
import { combineOutcomes } from '../../../src/modules/chain/domain/combine-outcomes.js';
import { actionOf } from '../../../src/modules/chain/domain/node-error-action.js';
import { NODE_ERROR_CLASSES } from '../../../src/kernel/node-error-class.js';
import { aConnector, type FixtureOptions } from './chain-fixture.js';
import { FakeRpcServer } from './fake-rpc-server.js';

const tx = (n: number) => ({
  raw: parseHex(`0x${n.toString(16).padStart(4, '0')}`),
  hash: parseHash(`0x${n.toString(16).padStart(64, '0')}`),
});
const hashOf = (raw: unknown) => `0x${String(raw).slice(2).padStart(64, '0')}`;

describe('several answers to one send', () => {
  const outcome = fc.oneof(
    fc.constant<BroadcastOutcome>({ kind: 'accepted' }),
    fc.constantFrom(...NODE_ERROR_CLASSES).map((errorClass): BroadcastOutcome => {
      const { outcome: kind } = actionOf(errorClass);
      if (kind === 'accepted') return { kind };
      return kind === 'rejected'
        ? { kind, errorClass, message: errorClass }
        : { kind, errorClass, message: errorClass };
    }),
  );

  it('one success beats any error, and maybe beats no, in any order', () => {
    fc.assert(
      fc.property(fc.array(outcome, { minLength: 1 }), (outcomes) => {
        const kinds = outcomes.map(({ kind }) => kind);
        const expected = kinds.includes('accepted') ? 'accepted' : kinds.includes('unknown') ? 'unknown' : 'rejected';
        expect(combineOutcomes(outcomes).kind).toBe(expected);
      }),
    );
  });

  it('nobody asked means that nothing was sent', () =>
    expect(combineOutcomes([])).toEqual({ kind: 'not_sent', message: 'no endpoint could be asked' }));

  const FOR_GOOD = { kind: 'rejected', errorClass: 'oversized_data', message: 'oversized data' } as const;
  const FULL = { kind: 'rejected', errorClass: 'txpool_full', message: 'txpool is full' } as const;
  const POLICY = { kind: 'rejected', errorClass: 'node_fee_cap_exceeded', message: 'exceeds the cap' } as const;
  const UNREACHED = { kind: 'not_sent', message: 'ECONNREFUSED' } as const;
  const UNKNOWN = { kind: 'unknown', errorClass: 'transient', message: 'timeout' } as const;

  it('refused by the policy of those that could be reached is no end: another node may think otherwise', () => {
    const policy = { kind: 'rejected', errorClass: 'node_fee_cap_exceeded', message: 'exceeds the cap' } as const;
    const away = { kind: 'not_sent', message: 'ECONNREFUSED' } as const;
    expect(combineOutcomes([policy, away])).toEqual({
      kind: 'rejected',
      errorClass: 'transient',
      message: 'exceeds the cap; not all endpoints were reached: ECONNREFUSED',
    });
  });

  it('refused for good means that every one refused for good', () => {
    expect(combineOutcomes([FOR_GOOD, FOR_GOOD])).toEqual(FOR_GOOD);
    for (const both of [
      [FOR_GOOD, FULL],
      [FULL, FOR_GOOD],
    ])
      expect(combineOutcomes(both)).toEqual(FULL);
    expect(combineOutcomes([FOR_GOOD, POLICY])).toEqual(POLICY);
  });

  it('one that could not be reached has not refused for good, and has nothing either', () => {
    expect(combineOutcomes([FOR_GOOD, UNREACHED])).toMatchObject({ kind: 'rejected', errorClass: 'transient' });
    expect(combineOutcomes([UNREACHED, FULL])).toEqual(FULL);
    expect(combineOutcomes([UNREACHED, UNREACHED])).toEqual(UNREACHED);
    expect(combineOutcomes([UNREACHED, UNKNOWN])).toEqual(UNKNOWN);
  });

  it.each(['invalid_sender', 'invalid_chain_id'] as const)(
    '%s is tried again while one could not be reached, though it stops the signer or the chain elsewhere',
    (errorClass) => {
      const refused = { kind: 'rejected', errorClass, message: 'refused' } as const;
      expect(combineOutcomes([refused, UNREACHED])).toMatchObject({ kind: 'rejected', errorClass: 'transient' });
    },
  );

  it('taken without a word beats taken by way of an error, in any order', () => {
    const plain = { kind: 'accepted' } as const;
    const known = { kind: 'accepted', errorClass: 'already_known' } as const;
    expect(combineOutcomes([known, plain])).toEqual(plain);
    expect(combineOutcomes([plain, known])).toEqual(plain);
    expect(combineOutcomes([UNKNOWN, known])).toEqual(known);
  });

  it('names the reason that says most', () => {
    const because = (
      errorClass: 'transient' | 'nonce_too_low' | 'method_unsupported' | 'oversized_data',
    ): BroadcastOutcome => {
      const { outcome: kind } = actionOf(errorClass);
      return { kind: kind === 'rejected' ? 'rejected' : 'unknown', errorClass, message: '' };
    };
    expect(combineOutcomes([because('transient'), because('nonce_too_low')])).toMatchObject({
      errorClass: 'nonce_too_low',
    });
    expect(combineOutcomes([because('method_unsupported'), because('oversized_data')])).toMatchObject({
      errorClass: 'method_unsupported',
    });
  });
});

describe('broadcast', () => {
  let a: FakeRpcServer;
  let b: FakeRpcServer;
  const open: { close(): Promise<void> }[] = [];

  const connected = (urls: readonly string[], options: FixtureOptions = {}) => {
    const fixture = aConnector(urls, options);
    open.push(fixture.pool);
    return fixture;
  };
  const send = (urls: readonly string[], count = 1, options: FixtureOptions = {}) =>
    connected(urls, options).connector.broadcast(Array.from({ length: count }, (_, i) => tx(i + 1)));
  const says = (server: FakeRpcServer, message: string) =>
    (server.answer = () => ({ error: { code: -32000, message } }));

  beforeEach(async () => {
    [a, b] = await Promise.all([new FakeRpcServer().start(), new FakeRpcServer().start()]);
    for (const server of [a, b]) server.answer = ({ params }) => ({ result: hashOf(params[0]) });
  });

  afterEach(async () => {
    await Promise.all(open.splice(0).map((pool) => pool.close()));
    await Promise.all([a.stop(), b.stop()]);
  });

  it('sends to every endpoint, in the order given', async () => {
    expect(await send([a.url, b.url], 5, { batchSize: 2 })).toEqual(
      Array.from({ length: 5 }, () => ({ kind: 'accepted' })),
    );
    const raws = Array.from({ length: 5 }, (_, i) => tx(i + 1).raw);
    expect(a.seen.filter(({ method }) => method === 'eth_sendRawTransaction').map(({ params }) => params[0])).toEqual(
      raws,
    );
    expect(b.asked).toHaveLength(5);
  });

  it('each transaction has its own outcome', async () => {
    a.answer = ({ params: [raw] }) =>
      raw === tx(2).raw
        ? { error: { message: 'already known' } }
        : raw === tx(3).raw
          ? { error: { message: 'intrinsic gas too low' } }
          : raw === tx(4).raw
            ? 'nothing'
            : { result: hashOf(raw) };
    expect(await send([a.url], 4)).toEqual([
      { kind: 'accepted' },
      { kind: 'accepted', errorClass: 'already_known' },
      { kind: 'rejected', errorClass: 'intrinsic_gas_too_low', message: 'intrinsic gas too low', alone: true },
      {
        kind: 'unknown',
        errorClass: 'transient',
        message: 'no answer to this call, while others are answered: neither result nor error',
      },
    ]);
  });

  it.each([
    'nonce too low',
    'replacement transaction underpriced',
    'Internal error',
    'the frobnicator is unhappy',
    'rate limit exceeded',
  ])('"%s" is not a rejection', async (message) => {
    says(a, message);
    expect(await send([a.url])).toMatchObject([{ kind: 'unknown', message }]);
  });

  it('one success beats any error of the others', async () => {
    says(a, 'intrinsic gas too low');
    expect(await send([a.url, b.url])).toEqual([{ kind: 'accepted' }]);
  });

  it('a time-out beside a rejection leaves it open', async () => {
    says(a, 'intrinsic gas too low');
    b.takeOver = () => true;
    expect(await send([a.url, b.url], 1, { timeoutMs: 200 })).toMatchObject([
      { kind: 'unknown', errorClass: 'transient' },
    ]);
  });

  it('an endpoint that surely never saw it has not refused for good, and has nothing either', async () => {
    says(a, 'intrinsic gas too low');
    const { url } = b;
    await b.stop();
    expect(await send([a.url, url])).toMatchObject([{ kind: 'rejected', errorClass: 'transient' }]);
    expect(await send([url])).toMatchObject([{ kind: 'not_sent' }]);
  });

  it('does not wait for a hung endpoint when another accepted', async () => {
    b.takeOver = () => true;
    const start = performance.now();
    expect(await send([a.url, b.url], 3, { timeoutMs: 30_000 })).toEqual([1, 2, 3].map(() => ({ kind: 'accepted' })));
    expect(performance.now() - start).toBeLessThan(10_000);
  });

  it.each<[string, unknown]>([
    ['another hash', `0x${'f'.repeat(64)}`],
    ['null', null],
    ['an object', {}],
  ])('%s for an answer means unknown', async (_name, result) => {
    a.answer = () => ({ result });
    expect(await send([a.url])).toMatchObject([{ kind: 'unknown', errorClass: 'hash_mismatch' }]);
  });

  it.each<[string, (server: FakeRpcServer) => void, string]>([
    ['a reset', (server) => (server.takeOver = ({ request }) => Boolean(request.socket.destroy())), 'transient'],
    ['a 502', (server) => (server.takeOver = ({ response }) => Boolean(response.writeHead(502).end())), 'transient'],
    ['a 429', (server) => (server.takeOver = ({ response }) => Boolean(response.writeHead(429).end())), 'rate_limited'],
  ])('%s means unknown', async (_name, spoil, errorClass) => {
    spoil(a);
    expect(await send([a.url])).toMatchObject([{ kind: 'unknown', errorClass }]);
  });

  it('an endpoint of another chain is sent nothing', async () => {
    a.chainId = 1;
    expect(await send([a.url])).toMatchObject([{ kind: 'not_sent' }]);
    expect(a.asked).toEqual([]);
  });

  it('takes the hash in any case', async () => {
    a.answer = ({ params }) => ({ result: hashOf(params[0]).toUpperCase().replace('0X', '0x') });
    expect(await send([a.url])).toEqual([{ kind: 'accepted' }]);
  });

  it('counts and logs words that no row knows', async () => {
    says(a, 'the frobnicator is unhappy');
    const { connector, log, metrics } = connected([a.url]);
    await connector.broadcast([tx(1)]);
    expect(log.lines).toContainEqual({
      event: 'node error has no known class',
      fields: { chainId: 1337, method: 'eth_sendRawTransaction', code: -32000, error: 'the frobnicator is unhappy' },
    });
    expect(metrics.counted('rpc_node_errors_total')).toEqual({ '1337 eth_sendRawTransaction unknown': 1 });
  });

  it('sends nothing for nothing', async () => {
    expect(await send([a.url], 0)).toEqual([]);
    expect(a.seen).toEqual([]);
  });
});
