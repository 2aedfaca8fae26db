import { afterEach, describe, expect, it } from '@jest/globals';
import { aConnector } from './chain-fixture.js';
import { type FakeAnswer, FakeRpcServer } from './fake-rpc-server.js';

const GWEI = 1_000_000_000n;
const hex = (n: number | bigint) => `0x${n.toString(16)}`;
const UNSUPPORTED: FakeAnswer = { error: { message: 'the method eth_feeHistory does not exist/is not available' } };
const HASH = `0x${'1'.repeat(64)}`;

/** What a node of geth answers before London: base fees of 0, and whole gas prices as rewards. */
const historyAt = (newest: number, gasPrices: readonly bigint[] | null): FakeAnswer => ({
  result: {
    oldestBlock: hex(newest),
    baseFeePerGas: ['0x0', '0x0'],
    gasUsedRatio: [gasPrices ? 0.5 : 0],
    reward: [(gasPrices ?? [0n, 0n, 0n, 0n, 0n]).map(hex)],
  },
});
const headAt = (number: number, fields: object = {}): FakeAnswer => ({
  result: { number: hex(number), hash: HASH, parentHash: HASH, timestamp: '0x1', ...fields },
});

interface Node {
  readonly history: FakeAnswer;
  readonly gasPrice: FakeAnswer;
  readonly head: FakeAnswer;
  /** Of a tip. */
  readonly suggestion?: FakeAnswer;
}
const PLAIN: Node = { history: UNSUPPORTED, gasPrice: { result: hex(10n * GWEI) }, head: headAt(100) };

describe('the quote of a chain without a base fee', () => {
  const nodes: FakeRpcServer[] = [];
  let fixture: ReturnType<typeof aConnector>;

  afterEach(async () => {
    await fixture.pool.close();
    await Promise.all(nodes.splice(0).map((node) => node.stop()));
  });

  const quoteOf = async (...each: Node[]) => {
    for (const { history, gasPrice, head, suggestion = UNSUPPORTED } of each) {
      const node = await new FakeRpcServer().start();
      const answers = new Map([
        ['eth_feeHistory', history],
        ['eth_gasPrice', gasPrice],
        ['eth_maxPriorityFeePerGas', suggestion],
      ]);
      node.answer = ({ method }) => answers.get(method) ?? head;
      nodes.push(node);
    }
    fixture = aConnector(nodes.map(({ url }) => url));
    return fixture.connector.feeQuote();
  };

  it('is the gas price that the node suggests, and more for more speed, where it has no fee history', async () => {
    expect(await quoteOf(PLAIN)).toEqual({
      blockNumber: 100,
      hasBaseFee: false,
      baseFeePerGas: 0n,
      tips: { slow: 10n * GWEI, standard: 11n * GWEI, fast: 12n * GWEI, urgent: 13n * GWEI },
      congestedTip: 12n * GWEI,
      blobBaseFee: null,
    });
  });

  it.each([
    ['the tip that the node suggests', { result: hex(2n * GWEI) }, 2n * GWEI],
    ['what its gas price is above the base fee', UNSUPPORTED, 10n * GWEI - 8n],
  ])(
    'is that of the head, an eighth higher, and %s, on a chain with a base fee without fee history',
    async (_tip, suggestion, tip) => {
      const head = headAt(100, { baseFeePerGas: '0x8' });
      expect(await quoteOf({ ...PLAIN, head, suggestion })).toMatchObject({
        blockNumber: 100,
        hasBaseFee: true,
        baseFeePerGas: 9n,
        tips: { slow: tip, urgent: tip },
      });
    },
  );

  it('is made of the gas prices that recent blocks paid, where the node tells them', async () => {
    expect(await quoteOf({ ...PLAIN, history: historyAt(101, [3n, 4n, 5n, 6n, 7n]) })).toMatchObject({
      blockNumber: 101,
      hasBaseFee: false,
      tips: { slow: 3n, standard: 4n, fast: 5n, urgent: 7n },
      congestedTip: 6n,
    });
  });

  it('is what the node suggests when all recent blocks are empty', async () => {
    expect(await quoteOf({ ...PLAIN, history: historyAt(100, null) })).toMatchObject({
      hasBaseFee: false,
      tips: { slow: 10n * GWEI, urgent: 13n * GWEI },
    });
  });

  it('is another one where the base fee is 0 and blocks have one: only tips are paid then', async () => {
    const head = headAt(100, { baseFeePerGas: '0x0' });
    expect(await quoteOf({ ...PLAIN, history: historyAt(100, [3n, 4n, 5n, 6n, 7n]), head })).toMatchObject({
      hasBaseFee: true,
      baseFeePerGas: 0n,
      tips: { standard: 4n },
    });
  });

  it('is the tip that the node suggests where the base fee is 0 and all recent blocks are empty', async () => {
    const head = headAt(100, { baseFeePerGas: '0x0' });
    expect(await quoteOf({ ...PLAIN, history: historyAt(100, null), head })).toMatchObject({
      hasBaseFee: true,
      tips: { slow: 10n * GWEI, urgent: 10n * GWEI },
    });
  });

  const FREE = { slow: 0n, standard: 0n, fast: 0n, urgent: 0n };
  it.each<[string, Partial<Node>, object]>([
    ['has no base fee', {}, { hasBaseFee: false }],
    ['has a base fee of 0', { head: headAt(100, { baseFeePerGas: '0x0' }) }, { hasBaseFee: true }],
    ['saw blocks that paid all the same', { history: historyAt(100, [3n, 4n, 5n, 6n, 7n]) }, { hasBaseFee: false }],
  ])('is 0, without a least tip, on a chain whose gas price is 0 and that %s', async (_words, node, expected) => {
    const quote = { ...expected, baseFeePerGas: 0n, tips: FREE, congestedTip: 0n };
    expect(await quoteOf({ ...PLAIN, gasPrice: { result: '0x0' }, ...node })).toMatchObject(quote);
  });

  it('is not 0 where only the gas price is: the base fee is paid', async () => {
    const node = { ...PLAIN, gasPrice: { result: '0x0' }, head: headAt(100, { baseFeePerGas: '0x8' }) };
    expect(await quoteOf(node)).toMatchObject({ baseFeePerGas: 9n, tips: { slow: 1n } });
  });

  it('costs two round trips for all who ask in a second', async () => {
    await quoteOf(PLAIN);
    await Promise.all([fixture.connector.feeQuote(), fixture.connector.feeQuote()]);
    expect(nodes.map(({ asked }) => asked)).toEqual([
      ['eth_feeHistory', 'eth_gasPrice', 'eth_getBlockByNumber', 'eth_maxPriorityFeePerGas'],
    ]);
  });

  it('is not raised by one mad endpoint of two', async () => {
    const mad = { ...PLAIN, gasPrice: { result: hex(10n ** 18n) } };
    expect(await quoteOf(mad, PLAIN)).toMatchObject({ tips: { slow: 10n * GWEI } });
  });

  it('is that of the greater group when endpoints disagree whether there is a base fee', async () => {
    const market: Node = {
      ...PLAIN,
      history: {
        result: {
          oldestBlock: hex(100),
          baseFeePerGas: [hex(7), hex(7)],
          gasUsedRatio: [0.5],
          reward: [[1, 2, 3, 4, 5].map(hex)],
        },
      },
    };
    expect(await quoteOf(market, PLAIN)).toMatchObject({ hasBaseFee: true });
    expect(await quoteOf(market, PLAIN, PLAIN)).toMatchObject({ hasBaseFee: false, tips: { slow: 10n * GWEI } });
  });

  it('is the base fee of the head and the least tip, where the node tells nothing else', async () => {
    const only: Node = { ...PLAIN, head: headAt(100, { baseFeePerGas: '0x8' }), gasPrice: UNSUPPORTED };
    expect(await quoteOf(only)).toMatchObject({ hasBaseFee: true, baseFeePerGas: 9n, tips: { slow: 1n, urgent: 1n } });
  });

  it('has the base fee of the head, and the tips of a history without base fees', async () => {
    const history = { result: { oldestBlock: hex(100), gasUsedRatio: [0.5], reward: [[1, 2, 3, 4, 5].map(hex)] } };
    expect(await quoteOf({ ...PLAIN, history, head: headAt(100, { baseFeePerGas: '0x8' }) })).toMatchObject({
      ...{ blockNumber: 100, hasBaseFee: true, baseFeePerGas: 9n },
      tips: { slow: 1n, standard: 2n, urgent: 5n },
    });
  });

  it('is the tip that a node suggests, where nothing else tells a price and there is no base fee', async () => {
    const suggestion = { result: hex(10n * GWEI) };
    expect(await quoteOf({ ...PLAIN, gasPrice: UNSUPPORTED, suggestion })).toMatchObject({
      hasBaseFee: false,
      tips: { slow: 10n * GWEI },
    });
  });

  it.each<[string, Partial<Node>]>([
    ['price', { gasPrice: UNSUPPORTED }],
    ['header', { head: UNSUPPORTED }],
    ['answer about its prices', { head: headAt(100, { baseFeePerGas: '0x7' }), gasPrice: 'nothing' }],
  ])('is not available from a node that tells no %s', async (_name, missing) => {
    await expect(quoteOf({ ...PLAIN, ...missing })).rejects.toMatchObject({ code: 'rpc_unavailable' });
  });
});
