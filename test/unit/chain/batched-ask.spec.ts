import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import { parseAddress, parseHash, parseHex } from '../../../src/kernel/hex.js';
import { BatchedAsk } from '../../../src/modules/chain/infrastructure/rpc/batched-ask.js';
import { BatchLimits, type EncodedCall } from '../../../src/modules/chain/infrastructure/rpc/batch-limits.js';
import { failed, type RpcReply } from '../../../src/modules/chain/infrastructure/rpc/json-rpc.js';
import { isSilence } from '../../../src/modules/chain/infrastructure/rpc/silence.js';
import { aConnector } from './chain-fixture.js';
import { FakeRpcServer, type RpcCall } from './fake-rpc-server.js';

const TIMED_OUT = failed({ reason: 'timeout', mayHaveArrived: true, message: 'request timeout' });
const LOST = failed({ reason: 'connection', mayHaveArrived: true, message: 'ECONNRESET' });
const OK: RpcReply = { kind: 'result', value: 'ok' };
const calls = (count: number): EncodedCall[] => Array.from({ length: count }, (_, id) => ({ id, text: '' }));
const said = (reply: RpcReply | undefined) => (reply?.kind === 'failed' ? reply.failure.reason : reply?.kind);

/** An endpoint where a batch with a poisoned call, or with too many calls, gets no answer. */
class Endpoint {
  readonly limits = new BatchLimits({ calls: 64, bytes: 1_000_000 });
  poison = new Set<number>();
  most = 1_000;
  isAlive = true;
  isSameChain = false;
  failure: RpcReply = TIMED_OUT;
  readonly batches: number[][] = [];

  async ask(count: number, atOnce = 8): Promise<RpcReply[]> {
    this.batches.length = 0;
    const ask = new BatchedAsk({
      limits: this.limits,
      isAlive: async () => this.isAlive,
      isSameChain: async () => this.isSameChain,
      atOnce,
      send: async (batch) => {
        this.batches.push(batch.map(({ id }) => id));
        const isSilent = batch.length > this.most || batch.some(({ id }) => this.poison.has(id));
        return { kind: 'answered', replies: batch.map(() => (isSilent ? this.failure : OK)) };
      },
    });
    return ask.execute(calls(count));
  }
}

describe('a batch that is refused for the rate of requests', () => {
  const RATE = failed({ reason: 'rate_limited', mayHaveArrived: true, message: 'HTTP 429' });
  const IN_WORDS: RpcReply = { kind: 'error', error: { code: 429, message: 'Too Many Requests', data: undefined } };

  /** An endpoint that takes single calls, and of batches only those with as many calls. */
  function limiting(most: number, failure: RpcReply = RATE): Endpoint {
    return Object.assign(new Endpoint(), { most, failure });
  }

  it.each([RATE, IN_WORDS])(
    'while single calls are taken teaches the size, and is sent once in each ask: %j',
    async (failure) => {
      const endpoint = limiting(3, failure);
      let asks = 0;
      for (let replies: RpcReply[] = [failure]; replies.some(({ kind }) => kind !== 'result'); asks += 1) {
        expect(asks).toBeLessThan(40);
        replies = await endpoint.ask(64, 1);
        expect(endpoint.batches.filter(({ length }) => length > 3).length).toBeLessThanOrEqual(1);
        await endpoint.ask(1);
      }
      await endpoint.ask(64);
      expect(Math.max(...endpoint.batches.map(({ length }) => length))).toBe(2);
    },
  );

  it('teaches nothing while no single call is taken, or while one of them is refused as well', async () => {
    const endpoint = limiting(3);
    for (let n = 0; n < 20; n += 1) await endpoint.ask(64);
    for (let n = 0; n < 20; n += 1) {
      endpoint.most = n % 3 === 0 ? 0 : 3;
      await endpoint.ask(1);
      await endpoint.ask(64);
      expect(endpoint.batches.map(({ length }) => length)).toEqual([64]);
    }
  });

  it('teaches nothing after a batch that was taken: it counts anew', async () => {
    const endpoint = limiting(3);
    for (let n = 0; n < 20; n += 1) {
      endpoint.most = n % 3 === 0 ? 64 : 3;
      await endpoint.ask(64);
      endpoint.most = 3;
      await endpoint.ask(1);
    }
    endpoint.most = 64;
    await endpoint.ask(64);
    expect(endpoint.batches.map(({ length }) => length)).toEqual([64]);
  });

  it('ends the ask once the size is lowered, and what was not sent did not arrive', async () => {
    const endpoint = limiting(3);
    for (let n = 0; n < 3; n += 1) {
      await endpoint.ask(1);
      await endpoint.ask(64);
    }
    await endpoint.ask(1);
    await endpoint.ask(64);
    const replies = await endpoint.ask(64, 1);
    expect(endpoint.batches.map(({ length }) => length)).toEqual([32]);
    expect(
      replies.map((reply) => reply.kind === 'failed' && [reply.failure.reason, reply.failure.mayHaveArrived]),
    ).toEqual([...Array(32).fill(['rate_limited', true]), ...Array(32).fill(['rate_limited', false])]);
  });
});

describe('a batch without an answer', () => {
  it('is asked again in halves until the call that spoils it is alone, in few asks of few round trips', async () => {
    const endpoint = new Endpoint();
    endpoint.poison.add(37);
    const answered = new Set<number>();
    let reason: string | undefined;
    for (let ask = 0; ask < 3 && reason !== 'call_silent'; ask += 1) {
      const replies = await endpoint.ask(64);
      expect(endpoint.batches.filter((batch) => batch.includes(37)).length).toBeLessThanOrEqual(4);
      replies.forEach((reply, id) => reply.kind === 'result' && answered.add(id));
      reason = said(replies[37]);
    }
    expect(reason).toBe('call_silent');
    expect(answered.size).toBe(63);
  });

  it('for its weight is answered in parts, and sent in such parts from then on', async () => {
    const endpoint = new Endpoint();
    endpoint.most = 40;
    expect(new Set((await endpoint.ask(64)).map(said))).toEqual(new Set(['result']));
    await endpoint.ask(64);
    expect(endpoint.batches.map(({ length }) => length)).toEqual([32, 32]);
    endpoint.most = 1_000;
    for (let n = 0; n < 20; n += 1) await endpoint.ask(64);
    expect(endpoint.batches[0]).toHaveLength(64);
  });

  it('costs one round trip at an endpoint that answers nothing', async () => {
    const endpoint = new Endpoint();
    [endpoint.most, endpoint.isAlive] = [0, false];
    expect(new Set((await endpoint.ask(64)).map(said))).toEqual(new Set(['timeout']));
    expect(endpoint.batches).toHaveLength(1);
  });

  it('because its connection was lost ends the ask: another node may answer at the URL, and its chain is verified first', async () => {
    const endpoint = new Endpoint();
    endpoint.poison.add(0);
    endpoint.failure = LOST;
    expect((await endpoint.ask(128, 1)).map(said)).toEqual([
      ...new Array<string>(64).fill('connection'),
      ...new Array<string>(64).fill('unreachable'),
    ]);
    expect(endpoint.batches).toHaveLength(1);
  });

  it('because its connection was lost is sent in halves where the same chain answers: some endpoints refuse batches so', async () => {
    const endpoint = new Endpoint();
    [endpoint.most, endpoint.failure, endpoint.isSameChain] = [3, LOST, true];
    // Each ask ends after four lost connections; the next one goes on with the size that is left.
    expect((await endpoint.ask(64, 1)).map(said)).toContain('connection');
    expect(new Set((await endpoint.ask(64, 1)).map(said))).toEqual(new Set(['result']));
    await endpoint.ask(64, 1);
    expect(endpoint.batches.map(({ length }) => length)).toEqual(new Array<number>(32).fill(2));
  });

  it('is bounded however much of it is poisoned, and everything else is answered in the end', async () => {
    const endpoint = new Endpoint();
    for (let id = 0; id < 64; id += 1) if (id % 4 !== 0) endpoint.poison.add(id);
    const answered = new Set<number>();
    for (let ask = 0; ask < 60; ask += 1) {
      const replies = await endpoint.ask(64);
      const silent = endpoint.batches.filter((batch) => batch.some((id) => endpoint.poison.has(id)));
      expect(silent.length).toBeLessThanOrEqual(4 + 7);
      replies.forEach((reply, id) => reply.kind === 'result' && answered.add(id));
    }
    expect(answered.size).toBe(16);
  });

  it('is sent in halves in its order, where order counts', async () => {
    const endpoint = new Endpoint();
    endpoint.most = 3;
    await endpoint.ask(8, 1);
    const taken = endpoint.batches.filter(({ length }) => length <= 3).flat();
    expect(taken).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });
});

describe('a batch that is refused as a whole', () => {
  it('may have arrived all the same, also when its calls find no connection later', async () => {
    const gone = failed({ reason: 'unreachable', mayHaveArrived: false, message: 'ECONNREFUSED' });
    const ask = new BatchedAsk({
      limits: new BatchLimits({ calls: 64, bytes: 1_000_000 }),
      isAlive: async () => false,
      isSameChain: async () => false,
      atOnce: 1,
      send: async (batch) =>
        batch.length > 2
          ? { kind: 'refused', refusal: { isForBytes: true, message: 'HTTP 413' } }
          : { kind: 'answered', replies: batch.map(() => gone) },
    });
    expect(await ask.execute(calls(4))).toMatchObject(
      Array.from({ length: 4 }, () => ({ kind: 'failed', failure: { mayHaveArrived: true } })),
    );
  });
});

describe('silence', () => {
  it.each<[string, RpcReply, boolean]>([
    ['a time-out', TIMED_OUT, true],
    ['what geth says when a batch took too long', anError('request timed out'), true],
    ['an execution that was stopped', anError('execution aborted (timeout = 5s)'), true],
    ['a contract that speaks of time', anError('execution reverted: request timed out'), false],
    ['a refusal', anError('nonce too low'), false],
    ['a rate limit', failed({ reason: 'rate_limited', mayHaveArrived: true, message: 'HTTP 429' }), false],
    ['a lost connection', LOST, false],
    ['a call that was not sent', failed({ reason: 'unreachable', mayHaveArrived: false, message: '' }), false],
  ])('%s: %j is %p', (_what, reply, expected) => expect(isSilence(reply)).toBe(expected));
});

function anError(message: string): RpcReply {
  return { kind: 'error', error: { code: -32000, message, data: undefined } };
}

const POISON = 0xbadn;
const address = (n: bigint) => parseAddress(`0x${n.toString(16).padStart(40, '0')}`);
const hash = (n: bigint) => parseHash(`0x${n.toString(16).padStart(64, '0')}`);
const [good, bad] = [1n, POISON];

type Connector = ReturnType<typeof aConnector>['connector'];
/** Each use of a batch with a poisoned item between others; it says how many of the others had an answer. */
const USERS: Readonly<Record<string, (chain: Connector) => Promise<number>>> = {
  eth_estimateGas: async (chain) => {
    const estimates = await chain.estimateGas(
      [good, bad, good].map((to) => ({ from: address(9n), to: address(to), value: 0n, data: parseHex('0x') })),
    );
    return estimates.filter(({ kind }) => kind === 'ok').length;
  },
  eth_getTransactionReceipt: async (chain) => {
    const lookups = await chain.receipts([good, bad, good].map(hash));
    return lookups.filter(({ kind }) => kind !== 'unavailable').length;
  },
  eth_sendRawTransaction: async (chain) => {
    const sends = [good, bad, 2n].map((n) => ({ hash: hash(n), raw: parseHex(hash(n)) }));
    return (await chain.broadcast(sends)).filter(({ kind }) => kind === 'accepted').length;
  },
};
/** They fail as a whole when one item has no answer; `isolateFailures` finds the signer (docs/invariants.md, I14), and no endpoint is down. */
const FAIL_WHOLE: Readonly<Record<string, (chain: Connector) => Promise<unknown>>> = {
  eth_getBalance: (chain) => chain.balances([good, bad, good].map(address)),
  eth_getTransactionCount: (chain) => chain.transactionCounts([good, bad, good].map(address), 'latest'),
  eth_getCode: (chain) => chain.delegated([good, bad, good].map(address)),
  eth_getBlockByNumber: (chain) => chain.blocks([1, Number(POISON), 2]),
};
/** One call, or the quorum of one question; what they ask is the chain's, and no actor's. */
const OF_THE_CHAIN = ['eth_blockNumber', 'eth_chainId', 'eth_feeHistory', 'eth_gasPrice', 'eth_maxPriorityFeePerGas'];
/** Of one block or slot at a time; through the same piece of code. */
const OF_ONE_ITEM = [
  'eth_call',
  'eth_getBlockByHash',
  'eth_getBlockReceipts',
  'eth_getTransactionByHash',
  'eth_getTransactionBySenderAndNonce',
];

describe('the register of the users of a batch', () => {
  const nodes: FakeRpcServer[] = [];
  let close = async (): Promise<void> => {};

  afterEach(async () => {
    await close();
    await Promise.all(nodes.splice(0).map((node) => node.stop()));
  });

  async function poisoned(): Promise<ReturnType<typeof aConnector>> {
    for (let i = 0; i < 2; i += 1) {
      const node = await new FakeRpcServer().start();
      const isPoison = ({ params }: RpcCall): boolean => JSON.stringify(params).includes(POISON.toString(16));
      node.takeOver = ({ calls: asked }) => asked.some(isPoison);
      node.answer = ({ method, params }) =>
        method === 'eth_estimateGas'
          ? { result: '0x5208' }
          : method === 'eth_sendRawTransaction'
            ? { result: params[0] }
            : { result: null };
      nodes.push(node);
    }
    const fixture = aConnector(
      nodes.map(({ url }) => url),
      { timeoutMs: 150 },
    );
    close = () => fixture.pool.close();
    return fixture;
  }

  it.each(Object.keys(USERS))(
    '%s: the others have their answers beside one that hangs, and no endpoint is down',
    async (method) => {
      const { connector, pool } = await poisoned();
      for (let round = 0; round < 3; round += 1) expect(await USERS[method]?.(connector)).toBe(2);
      expect(pool.status().map(({ consecutiveFailures }) => consecutiveFailures)).toEqual([0, 0]);
    },
  );

  it.each(Object.keys(FAIL_WHOLE))('%s: no endpoint is down for one that hangs', async (method) => {
    const { connector, pool } = await poisoned();
    await expect(FAIL_WHOLE[method]?.(connector)).rejects.toMatchObject({});
    expect(pool.status().map(({ consecutiveFailures }) => consecutiveFailures)).toEqual([0, 0]);
  });

  it('has every method that the service asks', () => {
    const folder = new URL('../../../src/modules/chain/infrastructure/', import.meta.url);
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
    const texts = files.map((file) => readFileSync(new URL(file, folder), 'utf8'));
    const asked = new Set(texts.flatMap((text) => [...text.matchAll(/'(eth_\w+)'/g)].map(([, method]) => method)));
    for (const ofSocket of ['eth_subscribe', 'eth_subscription']) asked.delete(ofSocket);
    const known = [...Object.keys(USERS), ...Object.keys(FAIL_WHOLE), ...OF_THE_CHAIN, ...OF_ONE_ITEM];
    expect([...asked].sort()).toEqual(known.sort());
    // And nothing goes to an endpoint past the one piece of code.
    expect(files.filter((_, i) => texts[i]?.includes('roundTrip.send('))).toEqual(['rpc/json-rpc-endpoint.ts']);
    expect(files.filter((_, i) => texts[i]?.includes('http.post('))).toEqual(['rpc/json-rpc-round-trip.ts']);
  });
});
