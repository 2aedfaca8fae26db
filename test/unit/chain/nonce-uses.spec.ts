import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parseAddress, parseHash } from '../../../src/kernel/hex.js';
import { until } from '../../support/until.js';
import { aConnector } from './chain-fixture.js';
import { type FakeAnswer, FakeRpcServer, type RpcCall } from './fake-rpc-server.js';

const HASHES = [1, 2].map((n) => parseHash(`0x${n.toString().repeat(64)}`));
const NO_ANSWER: FakeAnswer = { error: { message: 'transaction indexing is in progress' } };
const SLOT = { account: parseAddress('0x00000000000000000000000000000000000000aa'), nonce: 7n, hashes: HASHES };

/** A node at a height, with a next nonce for everybody and receipts of some hashes. */
interface Node {
  readonly height: number;
  readonly count: number;
  readonly mined?: readonly string[];
}

function answers({ height, count, mined = [] }: Node): (call: RpcCall) => FakeAnswer {
  return ({ method, params }) => {
    if (method === 'eth_getTransactionCount') return { result: hex(count) };
    if (method === 'eth_blockNumber') return { result: hex(height) };
    if (method === 'eth_getBlockByNumber') return { result: header(height) };
    return { result: mined.includes(String(params[0])) ? receipt(String(params[0])) : null };
  };
}

interface History {
  readonly height: number;
  /** The block whose transactions raised the count from 6 to 8. */
  readonly usedIn: number;
  readonly txs: readonly Record<string, unknown>[];
}

/** A node that keeps the state of its last 130 blocks, and has no receipts. */
function chain({ height, usedIn, txs }: History): (call: RpcCall) => FakeAnswer {
  return ({ method, params }) => {
    if (method === 'eth_getTransactionReceipt' || method === 'eth_getTransactionByHash') return { result: null };
    if (method === 'eth_getBlockByNumber') {
      const number = params[0] === 'latest' ? height : Number(params[0]);
      return { result: { ...header(number), transactions: params[1] === true && number === usedIn ? txs : [] } };
    }
    const at = params[1] === 'latest' ? height : Number(params[1]);
    // A height below zero is none.
    if (!(at >= Math.max(0, height - 130))) return { error: { code: -32000, message: 'missing trie node' } };
    return { result: hex(at >= usedIn ? 8 : 6) };
  };
}

const FOREIGNER = '0x00000000000000000000000000000000000000bb';

function foreign(hash: string, nonce: number): Record<string, unknown> & { readonly hash: string } {
  return { from: SLOT.account, nonce: hex(nonce), hash: `0x${hash.slice(2).padStart(64, '0')}` };
}

describe('what became of a nonce', () => {
  let a: FakeRpcServer;
  let b: FakeRpcServer;
  const open: { close(): Promise<void> }[] = [];

  beforeEach(async () => {
    a = await new FakeRpcServer().start();
    b = await new FakeRpcServer().start();
  });

  afterEach(async () => {
    await Promise.all(open.splice(0).map((pool) => pool.close()));
    await Promise.all([a.stop(), b.stop()]);
  });

  const connect = () => {
    const { connector, pool } = aConnector([a.url, b.url]);
    open.push(pool);
    return connector;
  };

  const fate = async () => (await connect().nonceUses([SLOT]))[0];

  /** The second endpoint has mined past the nonce, and answers this instead; to questions for one hash only, if one is given. */
  const spoilt = (method: string, answer: FakeAnswer, of?: unknown): void => {
    const honest = answers({ height: 100, count: 9 });
    b.answer = (call) =>
      call.method === method && (of === undefined || call.params[0] === of) ? answer : honest(call);
  };

  it('is passed when every endpoint says so, and has no receipt of ours', async () => {
    a.answer = answers({ height: 99, count: 8 });
    b.answer = answers({ height: 100, count: 9 });
    expect(await fate()).toMatchObject({ kind: 'passed', head: { number: 100 } });
  });

  it('is free where all that answer say that it is not used', async () => {
    a.answer = answers({ height: 99, count: 7 });
    b.answer = () => ({ error: { code: -32000, message: 'header not found' } });
    expect(await fate()).toEqual({ kind: 'open', isFree: true });
  });

  it.each([
    ['near the head', 100, 96],
    ['a hundred blocks ago', 1_000, 897],
    ['in the first block', 5, 1],
  ])('names the transaction that used it, found %s', async (_words, height, usedIn) => {
    const answer = chain({ height, usedIn, txs: [foreign('0xee', 6), foreign('0xff', 7)] });
    a.answer = answer;
    b.answer = answer;
    expect(await fate()).toMatchObject({
      kind: 'passed',
      head: { number: height },
      user: { txHash: foreign('0xff', 7).hash, block: { number: usedIn, hash: header(usedIn)['hash'] } },
    });
  });

  it('is ours when a block has one of ours with it, whatever the receipts are said to be', async () => {
    const answer = chain({ height: 100, usedIn: 90, txs: [{ ...foreign('0xff', 7), hash: String(HASHES[0]) }] });
    a.answer = answer;
    b.answer = answer;
    expect(await fate()).toMatchObject({ kind: 'ours', block: { number: 90 } });
  });

  it('is ours when a node that pruned its receipts and its state still has our transaction in a block', async () => {
    const pruned = chain({ height: 10_000, usedIn: 5, txs: [] });
    a.answer = pruned;
    b.answer = (call) =>
      call.method === 'eth_getTransactionByHash' && call.params[0] === HASHES[1]
        ? { result: { hash: HASHES[1], blockNumber: '0x5', blockHash: header(5)['hash'] } }
        : pruned(call);
    expect(await fate()).toMatchObject({ kind: 'ours', block: { number: 5, hash: header(5)['hash'] } });
  });

  it.each([
    ['null', { blockNumber: null, blockHash: null }],
    ['left out', {}],
  ])('is passed while a pool still has our transaction, its block %s', async (_words, block) => {
    const passed = chain({ height: 100, usedIn: 90, txs: [foreign('0xff', 7)] });
    a.answer = passed;
    b.answer = (call) =>
      call.method === 'eth_getTransactionByHash' ? { result: { hash: call.params[0], ...block } } : passed(call);
    expect(await fate()).toMatchObject({ kind: 'passed' });
  });

  describe('used with many others, in too many blocks to look into', () => {
    const slots = Array.from({ length: 20 }, (_, i) => ({ ...SLOT, nonce: BigInt(80 + i) }));
    // One nonce to a block.
    const used: FakeRpcServer['answer'] = ({ method, params }) => {
      if (method === 'eth_getTransactionReceipt' || method === 'eth_getTransactionByHash') return { result: null };
      const number = params[method === 'eth_getBlockByNumber' ? 0 : 1];
      const at = number === 'latest' ? 100 : Number(number);
      if (method === 'eth_getTransactionCount') return { result: hex(at) };
      return { result: { ...header(at), transactions: params[1] === true ? [foreign(hex(at), at - 1)] : [] } };
    };
    beforeEach(() => {
      a.answer = used;
      b.answer = used;
    });

    it('is open', async () => {
      const fates = await connect().nonceUses(slots);
      expect(fates.filter(({ kind }) => kind === 'passed')).toHaveLength(8);
      expect(fates.filter((each) => each.kind === 'passed' && each.user === null)).toEqual([]);
      expect(fates.filter(({ kind }) => kind === 'open')).toHaveLength(12);
    });

    it('is looked for in other blocks at the next looks, until each was read', async () => {
      const connector = connect();
      const passed = new Set<number>();
      for (let look = 0; look < 10; look += 1)
        (await connector.nonceUses(slots)).forEach(({ kind }, i) => kind === 'passed' && passed.add(i));
      expect(passed.size).toBe(slots.length);
    });
  });

  it.each([
    ['the state of its block is gone', chain({ height: 1_000, usedIn: 500, txs: [foreign('0xff', 7)] })],
    ['nobody sent it', chain({ height: 100, usedIn: 90, txs: [] })],
    ['another account sent it', chain({ height: 100, usedIn: 90, txs: [{ ...foreign('0xff', 7), from: FOREIGNER }] })],
  ])('has no name when %s', async (_words, answer) => {
    a.answer = answer;
    b.answer = answer;
    expect(await fate()).toMatchObject({ kind: 'passed', user: null });
  });

  it('is mined when only one of them has the receipt of one of ours', async () => {
    a.answer = answers({ height: 99, count: 8 });
    b.answer = answers({ height: 100, count: 8, mined: [String(HASHES[1])] });
    expect(await fate()).toMatchObject({ kind: 'mined', receipt: { txHash: HASHES[1] } });
  });

  it.each<[string, () => void]>([
    ['has not got that far', () => (b.answer = answers({ height: 98, count: 7 }))],
    ['answers with an error', () => (b.answer = () => NO_ANSWER)],
    ['does not answer', () => (b.takeOver = ({ request }) => Boolean(request.socket.destroy()))],
    ['cannot say whether it has the transactions', () => spoilt('eth_getTransactionByHash', NO_ANSWER)],
    ['knows the nonce and not the receipts', () => spoilt('eth_getTransactionReceipt', NO_ANSWER)],
    ['cannot say which its newest block is', () => spoilt('eth_getBlockByNumber', NO_ANSWER)],
    ['cannot say of one of the receipts', () => spoilt('eth_getTransactionReceipt', NO_ANSWER, HASHES[1])],
    [
      'says of a transaction what means nothing',
      () => spoilt('eth_getTransactionByHash', { result: 'yes' }, HASHES[1]),
    ],
  ])('is open while one of them %s', async (_words, spoil) => {
    a.answer = answers({ height: 100, count: 9 });
    spoil();
    expect(await fate()).toEqual({ kind: 'open' });
  });

  describe('passed, by an endpoint that is not at the head', () => {
    const compared = async (height: number) => {
      [a.head, b.head] = [100, height];
      a.answer = answers({ height: 100, count: 8 });
      b.answer = answers({ height, count: 8 });
      const { connector, pool } = aConnector([a.url, b.url]);
      open.push(pool);
      await until('the heads are compared', async () => {
        await connector.head();
        return pool.status().some(({ state }) => state === 'lagging' || state === 'ahead');
      });
      return connector;
    };

    it('is proven by the head of the other where that one is far ahead: its block may never come', async () => {
      const chain = await compared(0xffffff);
      expect(await chain.nonceUses([SLOT])).toMatchObject([{ kind: 'passed', head: { number: 100 } }]);
    });

    it('is proven by the higher head where that one lags', async () => {
      const chain = await compared(80);
      expect(await chain.nonceUses([SLOT])).toMatchObject([{ kind: 'passed', head: { number: 100 } }]);
    });
  });

  describe('with an endpoint ahead that denies our receipt', () => {
    let c: FakeRpcServer;

    beforeEach(async () => {
      c = await new FakeRpcServer().start();
      for (const [server, height] of [
        [a, 100],
        [b, 100],
        [c, 106],
      ] as const) {
        server.head = height;
        server.answer = answers({ height, count: 8, mined: server === c ? [] : [String(HASHES[0])] });
      }
    });

    afterEach(() => c.stop());

    const compared = async () => {
      const { connector, pool, clock } = aConnector([a.url, b.url, c.url], { timeoutMs: 300 });
      open.push(pool);
      await connector.head();
      clock.advance(1_100);
      await connector.head();
      await until('every head is known', async () => pool.status().every(({ lagBlocks }) => lagBlocks !== null));
      return connector;
    };

    it('is mined, as those say that have the receipt', async () => {
      const chain = await compared();
      expect(await chain.nonceUses([SLOT])).toMatchObject([{ kind: 'mined', receipt: { txHash: HASHES[0] } }]);
    });

    it('is open as long as those that have the receipt are away', async () => {
      const chain = await compared();
      for (const away of [a, b]) away.takeOver = ({ request }) => Boolean(request.socket.destroy());
      // Often enough that both are in back-off.
      for (let look = 0; look < 5; look += 1) expect(await chain.nonceUses([SLOT])).toEqual([{ kind: 'open' }]);
      for (const back of [a, b]) back.takeOver = () => false;
      expect(await chain.nonceUses([SLOT])).toMatchObject([{ kind: 'mined' }]);
    });
  });
});

function hex(value: number): string {
  return `0x${value.toString(16)}`;
}

function header(height: number): Record<string, unknown> {
  const hash = `0x${height.toString(16).padStart(64, '0')}`;
  return { number: hex(height), hash, parentHash: hash, timestamp: '0x1', transactions: [] };
}

function receipt(hash: string): Record<string, unknown> {
  return {
    transactionHash: hash,
    blockNumber: '0x10',
    blockHash: hash,
    transactionIndex: '0x0',
    status: '0x1',
    gasUsed: '0x5208',
    effectiveGasPrice: '0x1',
    contractAddress: null,
  };
}
