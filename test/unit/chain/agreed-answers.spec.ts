import { afterEach, describe, expect, it } from '@jest/globals';
import { parseAddress, parseHash, parseHex } from '../../../src/kernel/hex.js';
import type { GasEstimate } from '../../../src/modules/chain/domain/gas-estimate.js';
import { aConnector } from './chain-fixture.js';
import { type FakeAnswer, FakeRpcServer, type RpcCall } from './fake-rpc-server.js';

const ACCOUNT = parseAddress('0x00000000000000000000000000000000000000aa');
const CALL = { from: ACCOUNT, to: ACCOUNT, value: 0n, data: parseHex('0x') };

const hex = (n: number) => `0x${n.toString(16)}`;
const hashOf = (n: number, fork = 0) => `0x${fork}${n.toString(16).padStart(63, '0')}`;

interface View {
  readonly head?: number;
  readonly count?: number;
  /** Which of two chains it follows. */
  readonly fork?: number;
  readonly estimate?: FakeAnswer;
  /** What it says of every transaction; null: not mined. */
  readonly status?: '0x0' | '0x1' | null;
  /** What the receipts of each block say of it; null: no block lists it. */
  readonly listed?: '0x0' | '0x1' | null;
  readonly chainId?: number;
}

const RECEIPT = {
  blockNumber: hex(98),
  transactionIndex: '0x0',
  gasUsed: '0x5208',
  effectiveGasPrice: '0x1',
  contractAddress: null,
};

/** A node with a view of its own. */
function node(view: View) {
  const { head = 100, count = 5, fork = 0, estimate = { result: '0x5208' }, status = '0x1', listed = null } = view;
  return ({ method, params }: RpcCall): FakeAnswer => {
    if (method === 'eth_getTransactionCount') return { result: hex(count) };
    if (method === 'eth_estimateGas') return estimate;
    if (method === 'eth_getTransactionReceipt')
      return { result: status && { ...RECEIPT, transactionHash: params[0], blockHash: hashOf(98, fork), status } };
    if (method === 'eth_getBlockReceipts')
      return {
        result: listed
          ? [{ ...RECEIPT, transactionHash: hashOf(4711), blockHash: hashOf(98, fork), status: listed }]
          : [],
      };
    const number = params[0] === 'latest' ? head : Number(params[0]);
    if (number > head) return { result: null };
    const block = { number: hex(number), hash: hashOf(number, fork), parentHash: hashOf(0), timestamp: '0x1' };
    return { result: { ...block, gasUsed: listed ? '0x5208' : '0x0', transactions: listed ? [hashOf(4711)] : [] } };
  };
}

const REVERTS: FakeAnswer = { error: { code: 3, message: 'execution reverted' } };
const NO_MONEY: FakeAnswer = { error: { code: -32000, message: 'insufficient funds for gas * price + value' } };
const NO_STATE: FakeAnswer = { error: { code: -32000, message: 'missing trie node' } };

describe('what rests on more than one endpoint', () => {
  const servers: FakeRpcServer[] = [];
  const pools: { close(): Promise<void> }[] = [];

  const start = async (...views: View[]) => (await open(views)).connector;

  const open = async (views: readonly View[], timeoutMs?: number) => {
    for (const view of views) {
      const server = await new FakeRpcServer().start();
      server.head = view.head ?? 100;
      server.chainId = view.chainId ?? server.chainId;
      server.answer = node(view);
      servers.push(server);
    }
    const { connector, pool } = aConnector(
      servers.map(({ url }) => url),
      timeoutMs === undefined ? {} : { timeoutMs },
    );
    pools.push(pool);
    return { connector, pool };
  };

  const stop = async (index: number) => {
    await Promise.all(servers.splice(index, 1).map((server) => server.stop()));
  };

  afterEach(async () => {
    await Promise.all(pools.splice(0).map((pool) => pool.close()));
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  });

  describe('a transaction count', () => {
    it.each([[[105, 5, 5]], [[5, 105, 5]], [[5, 5, 105]]])('that is too high never wins: %p', async (counts) => {
      const chain = await start(...counts.map((count) => ({ count })));
      expect(await chain.agreedCounts([ACCOUNT], 'latest')).toMatchObject([{ nonce: 5n, block: { number: 100 } }]);
    });

    it('is told without the half that is dead, and not by less than half', async () => {
      const chain = await start({ count: 5 }, { count: 6 }, { count: 7 });
      await stop(0);
      expect(await chain.agreedCounts([ACCOUNT], 'latest')).toMatchObject([{ nonce: 6n }]);
      await stop(0);
      expect(await chain.agreedCounts([ACCOUNT], 'latest')).toEqual([null]);
    });

    it('names a block that neither a standing endpoint nor one far ahead tells', async () => {
      const chain = await start({ head: 40 }, { head: 100 }, { head: 100 }, { head: 0xffffff });
      expect(await chain.agreedCounts([ACCOUNT], 'latest')).toMatchObject([{ nonce: 5n, block: { number: 100 } }]);
    });

    it('is asked for as of the tag that was wanted', async () => {
      const chain = await start({});
      await chain.agreedCounts([ACCOUNT], 'pending');
      expect(servers[0]?.seen).toContainEqual(expect.objectContaining({ params: [ACCOUNT, 'pending'] }));
    });

    it('of an endpoint that lags is old, and has no say', async () => {
      const chain = await start({ count: 5 }, { count: 3, head: 80 });
      expect(await chain.agreedCounts([ACCOUNT], 'latest')).toMatchObject([{ nonce: 5n, block: { number: 100 } }]);
    });

    it('of an endpoint that does not tell as of which block has no say', async () => {
      const chain = await start({ count: 5 }, { count: 3 });
      const [, headless] = servers;
      if (headless)
        headless.answer = (call) => (call.method === 'eth_getBlockByNumber' ? NO_STATE : node({ count: 3 })(call));
      expect(await chain.agreedCounts([ACCOUNT], 'latest')).toMatchObject([{ nonce: 5n }]);
    });

    it('names the block of the other where one of two is far ahead', async () => {
      const chain = await start({ head: 100 }, { head: 0xffffff });
      expect(await chain.agreedCounts([ACCOUNT], 'latest')).toMatchObject([{ block: { number: 100 } }]);
    });

    it('names the middle one of the heads, whoever tells it', async () => {
      const chain = await start({ head: 103 }, { head: 100 }, { head: 101 });
      expect(await chain.agreedCounts([ACCOUNT], 'latest')).toMatchObject([{ block: { number: 101 } }]);
    });

    it('does not wait for a hung endpoint once half of them have spoken', async () => {
      // Nothing here ends by a time-out: with one of a minute, waiting for the hung one would end the test first.
      const { connector: chain } = await open([{ count: 5 }, { count: 6 }, {}], 60_000);
      for (const hung of servers.slice(2)) hung.hung = true;
      expect(await chain.agreedCounts([ACCOUNT], 'latest')).toMatchObject([{ nonce: 5n }]);
    });

    it('of a chain with one endpoint costs one round trip', async () => {
      const chain = await start({ count: 9 });
      expect(await chain.agreedCounts([ACCOUNT, ACCOUNT], 'latest')).toMatchObject([{ nonce: 9n }, { nonce: 9n }]);
      expect(servers[0]?.asked).toEqual(['eth_getTransactionCount', 'eth_getTransactionCount', 'eth_getBlockByNumber']);
    });
  });

  describe('a transaction count that every endpoint must tell', () => {
    it('is told when all are equal, with pools', async () => {
      const chain = await start({}, {}, {});
      expect(await chain.equalCounts([ACCOUNT])).toMatchObject([{ nonce: 5n, block: { number: 100 } }]);
      expect(servers[2]?.seen).toContainEqual(expect.objectContaining({ params: [ACCOUNT, 'pending'] }));
      expect(await chain.equalCounts([])).toEqual([]);
    });

    it.each([
      ['tells a higher one', { count: 6 }],
      ['tells a lower one', { count: 4 }],
      ['lags', { head: 80 }],
    ])('is not known when one of three %s', async (_, other) => {
      const chain = await start({}, {}, other);
      expect(await chain.equalCounts([ACCOUNT])).toEqual([null]);
    });

    it('is not known when one of three is silent', async () => {
      const chain = await start({}, {}, {});
      await stop(2);
      expect(await chain.equalCounts([ACCOUNT])).toEqual([null]);
    });
  });

  describe('the block at a height', () => {
    it('is told when nobody contradicts, and an endpoint that has not got there is silent', async () => {
      const chain = await start({ head: 100 }, { head: 98 });
      expect(await chain.agreedBlocks([98, 100, 101])).toEqual([
        { value: hashOf(98), isAlone: false },
        { value: hashOf(100), isAlone: true },
        null,
      ]);
    });

    it('is not known while two endpoints tell different ones', async () => {
      const chain = await start({}, { fork: 1 });
      expect(await chain.agreedBlocks([98])).toEqual([null]);
    });

    it('is what two of three tell: one on another branch alone stops nothing', async () => {
      const chain = await start({}, { fork: 1 }, {});
      expect(await chain.agreedBlocks([98])).toMatchObject([{ value: hashOf(98) }]);
    });

    // Found by seed 863 of the simulator: the liar spoke for a chain of three, and a tx was final nine blocks too early.
    it('is not told by the one of three that is ahead while another is on a wrong chain', async () => {
      const chain = await start({ head: 112 }, { head: 100 }, { chainId: 5 });
      expect(await chain.agreedBlocks([112, 100])).toEqual([null, { value: hashOf(100), isAlone: false }]);
    });

    it('of a chain with one endpoint costs one call', async () => {
      const chain = await start({});
      expect(await chain.agreedBlocks([7])).toEqual([{ value: hashOf(7), isAlone: true }]);
      expect(servers[0]?.asked).toEqual(['eth_getBlockByNumber']);
    });
  });

  describe('a receipt', () => {
    const TX = parseHash(hashOf(4711));
    const PLACED = { txHash: TX, blockHash: parseHash(hashOf(98)), blockNumber: 98 };
    const told = async (...views: View[]) => {
      const [answer] = await (await start(...views)).agreedReceipts([PLACED]);
      return answer?.kind === 'found' ? answer.receipt.status : answer?.kind;
    };

    it('is told when the endpoints agree on block and outcome', async () => {
      expect(await told({}, {})).toBe('success');
    });

    it('is told to be none when the endpoints agree on that', async () => {
      expect(await told({ status: null }, { status: null })).toBe('none');
    });

    const WITHOUT: View = { status: null };
    const UNINDEXED: View = { status: null, listed: '0x1' };
    const REVERTED: View = { status: null, listed: '0x0' };

    it.each<[string, View[], string]>([
      ['success: both', [UNINDEXED, UNINDEXED], 'success'],
      ['success: the other has it by hash', [{}, UNINDEXED], 'success'],
      ['reverted: both', [REVERTED, REVERTED], 'reverted'],
      ['not known: the other does not have it', [UNINDEXED, WITHOUT], 'unavailable'],
      ['not known: the other contradicts', [UNINDEXED, { status: '0x0' }], 'unavailable'],
      ['none: two of three do not have it', [UNINDEXED, WITHOUT, WITHOUT], 'none'],
    ])('is that of its block for an endpoint that has none by hash: %s', async (_words, views, expected) => {
      expect(await told(...views)).toBe(expected);
    });

    it.each<[string, View[]]>([
      ['all', [{}, {}]],
      ['two of three', [{}, {}, WITHOUT]],
      ['all but one that lags', [{}, { status: null, head: 80 }]],
    ])('costs no receipts of its block where those by hash agree: %s', async (_words, views) => {
      expect(await told(...views)).toBe('success');
      expect(servers.flatMap(({ asked }) => asked)).not.toContain('eth_getBlockReceipts');
    });

    it('is none where the height has another block now, that of its block included', async () => {
      const elsewhere: View = { status: null, listed: '0x1', fork: 1 };
      expect(await told(elsewhere, elsewhere)).toBe('none');
    });

    it.each([
      ['unavailable', -32005, 'rate limit exceeded'],
      ['unavailable', -32000, 'header not found'],
      ['unavailable', -32603, 'internal error'],
      ['none', -32601, 'the method eth_getBlockReceipts does not exist'],
    ])('is %s where an endpoint that has none by hash answers for its block: %d %s', async (kind, code, message) => {
      const chain = await start({ status: null }, { status: null });
      for (const server of servers)
        server.answer = (call) =>
          call.method === 'eth_getBlockReceipts' ? { error: { code, message } } : node({ status: null })(call);
      expect(await chain.agreedReceipts([PLACED])).toMatchObject([{ kind }]);
    });

    it.each<[string, View, string]>([
      ['lists it', UNINDEXED, 'unavailable'],
      ['has another block there', { ...UNINDEXED, fork: 1 }, 'none'],
      ['is not that far', { ...UNINDEXED, head: 90 }, 'none'],
    ])('of an endpoint without receipts of blocks that %s', async (_words, view, kind) => {
      const chain = await start(view, view);
      for (const server of servers)
        server.answer = (call) =>
          call.method === 'eth_getBlockReceipts'
            ? { error: { code: -32601, message: 'the method eth_getBlockReceipts does not exist' } }
            : node(view)(call);
      expect(await chain.agreedReceipts([PLACED])).toMatchObject([{ kind }]);
    });

    it('is unclear where the method is answered with an HTTP status: it may be so for good', async () => {
      const chain = await start(WITHOUT, WITHOUT);
      for (const server of servers)
        server.takeOver = ({ calls, response }) => {
          if (calls[0]?.method !== 'eth_getBlockReceipts') return false;
          response.writeHead(405).end();
          return true;
        };
      expect(await chain.agreedReceipts([PLACED])).toMatchObject([
        { kind: 'unclear', message: expect.stringContaining('eth_getBlockReceipts') },
      ]);
    });

    it('comes with those of few other blocks at a time', async () => {
      const chain = await start(UNINDEXED, UNINDEXED);
      const many = Array.from({ length: 9 }, (_, index) => ({ ...PLACED, blockNumber: 90 + index }));
      await chain.agreedReceipts(many);
      const inEach = servers.map(({ bodies }) => bodies.map((body) => body.split('eth_getBlockReceipts').length - 1));
      expect(inEach.map((counts) => counts.filter((count) => count > 0))).toEqual([
        [4, 4, 1],
        [4, 4, 1],
      ]);
    });

    it('is not known while two endpoints tell different ones', async () => {
      expect(await told({}, { status: '0x0' })).toBe('unavailable');
    });

    it('is not known while one endpoint has it and the other denies it', async () => {
      expect(await told({}, { status: null })).toBe('unavailable');
    });

    it('is what the other tells where one lags and does not have it yet', async () => {
      expect(await told({}, { status: null, head: 80 })).toBe('success');
    });

    it('is not known while one that lags has it and the other denies it', async () => {
      expect(await told({ head: 80 }, { status: null })).toBe('unavailable');
    });

    it('is what the other tells where one answers with an error, which denies nothing', async () => {
      const chain = await start({}, {});
      const [, broken] = servers;
      if (broken) broken.answer = () => NO_STATE;
      expect(await chain.agreedReceipts([PLACED])).toMatchObject([{ kind: 'found' }]);
    });

    it('is what two of three tell: one that lies alone fails no payload', async () => {
      expect(await told({ status: '0x0' }, {}, {})).toBe('success');
    });

    it('is none when two of three tell so: one that invents it keeps nothing mined', async () => {
      expect(await told({}, { status: null }, { status: null })).toBe('none');
    });
  });

  describe('an estimate that refuses', () => {
    const kindOf = async (...views: View[]) => {
      const chain = await start(...views);
      const [estimate] = await chain.estimateGas([CALL]);
      return estimate?.kind;
    };
    const kind = (...estimates: FakeAnswer[]) => kindOf(...estimates.map((estimate) => ({ estimate })));

    it('is overruled by any endpoint that can estimate', async () => {
      expect(await kind(REVERTS, REVERTS, { result: '0x5208' })).toBe('ok');
    });

    it('stands when every endpoint that can say refuses, at least half of them', async () => {
      expect(await kind(REVERTS, REVERTS, NO_STATE)).toBe('reverted');
    });

    it('is overruled also by one that lags', async () => {
      expect(await kindOf({ estimate: REVERTS }, { estimate: REVERTS }, { head: 80 })).toBe('ok');
    });

    it('is not known where one that lags would have to say so, too', async () => {
      expect(await kindOf({ estimate: REVERTS }, { estimate: NO_STATE }, { head: 80, estimate: REVERTS })).toBe(
        'unavailable',
      );
    });

    it('is not known when it is one against two that cannot say', async () => {
      expect(await kind(REVERTS, NO_STATE, NO_STATE)).toBe('unavailable');
    });

    it.each<[string, FakeAnswer, GasEstimate['kind']]>([
      ['that refuses, too, does not count', REVERTS, 'unavailable'],
      ['that can estimate overrules', { result: '0x5208' }, 'ok'],
    ])('of an endpoint that lags, %s', async (_words, estimate, expected) => {
      const chain = await start({ estimate: REVERTS }, { estimate: NO_STATE }, { estimate, head: 80 });
      expect(await chain.estimateGas([CALL])).toMatchObject([{ kind: expected }]);
    });

    it('is not made by an answer that is no number', async () => {
      expect(await kind({ result: 'much' })).toBe('unavailable');
    });

    it.each(['much', `0x${'f'.repeat(60)}`])('is asked of the others when one answers %s', async (result) => {
      expect(await kind({ result }, { result: '0x5208' })).toBe('ok');
    });

    it('waits for funds when one of them names the funds', async () => {
      expect(await kind(REVERTS, NO_MONEY)).toBe('insufficient_funds');
    });

    it('costs no call where the first endpoint can estimate', async () => {
      expect(await kind({ result: '0x5208' }, REVERTS)).toBe('ok');
      expect(servers.flatMap(({ asked }) => asked)).toEqual(['eth_estimateGas']);
    });
  });

  describe('whether a chain used the nonces that we call consumed', () => {
    const used = async (...views: View[]) => {
      const [answer] = await (await start(...views)).usedCounts([{ account: ACCOUNT, below: 5n, from: 90 }]);
      return answer?.isLower;
    };

    it.each<[string, View[], boolean | null]>([
      ['one endpoint of three says a lower count', [{ count: 2 }, {}, {}], false],
      ['two of three say a lower count', [{ count: 2 }, { count: 4 }, {}], true],
      ['one of two says a lower count', [{ count: 2 }, {}], null],
      ['an endpoint below the block of the last nonce says a lower count', [{ count: 2, head: 89 }], null],
      ['such an endpoint lags behind another one', [{ count: 2, head: 89 }, {}], false],
      ['the only endpoint says a lower count', [{ count: 4 }], true],
    ])('when %s', async (_what, views, expected) => {
      expect(await used(...views)).toBe(expected);
    });
  });
});
