import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { insideTransaction } from '../../../src/platform/database/transaction-scope.js';
import { type FeeHistory, parseFeeHistory } from '../../../src/modules/chain/infrastructure/fee-history.js';
import { MalformedAnswer } from '../../../src/modules/chain/infrastructure/parse-answer.js';
import { quoteFrom as quoteOf } from '../../../src/modules/chain/infrastructure/quote-from.js';
import { aConnector } from './chain-fixture.js';
import { FakeRpcServer } from './fake-rpc-server.js';

const hex = (n: number | bigint) => `0x${n.toString(16)}`;
/** `rewards`: per block, the tips at the percentiles 10, 50, 75, 90 and 95. */
const history = (rewards: number[][], ratios = rewards.map(() => 0.5), oldest = 100) => ({
  oldestBlock: hex(oldest),
  baseFeePerGas: [...ratios.map(() => hex(7)), hex(9)],
  gasUsedRatio: ratios,
  reward: rewards.map((reward) => reward.map(hex)),
});

const quoteFrom = (told: FeeHistory, suggestion: bigint | null, floor: bigint) =>
  quoteOf({ ...told, nextBaseFee: told.nextBaseFee ?? -1n }, suggestion, floor);

describe('a fee quote', () => {
  it('takes the base fee of the next block, and medians of the tips per speed', () => {
    const quote = quoteFrom(
      parseFeeHistory(
        history([
          [1, 2, 3, 4, 5],
          [10, 20, 30, 40, 50],
          [100, 200, 300, 400, 500],
        ]),
      ),
      null,
      0n,
    );
    expect(quote).toEqual({
      blockNumber: 102,
      hasBaseFee: true,
      baseFeePerGas: 9n,
      tips: { slow: 10n, standard: 20n, fast: 30n, urgent: 50n },
      congestedTip: 40n,
      blobBaseFee: null,
    });
  });

  it.each([[[900, 20, 100]], [[100, 900, 20]], [[20, 100, 900]], [[900, 100, 20]]])(
    'takes the middle one of the tips, whatever the order of the blocks: %j',
    (tips) => {
      const rewards = tips.map((tip) => [tip, tip, tip, tip, tip]);
      expect(quoteFrom(parseFeeHistory(history(rewards)), null, 0n).tips.slow).toBe(100n);
    },
  );

  it('takes the upper one of two middle tips', () => {
    const tips = [1, 2, 3, 4].map((tip) => [tip, tip, tip, tip, tip]);
    expect(quoteFrom(parseFeeHistory(history(tips)), null, 0n).tips.slow).toBe(3n);
  });

  it('ignores empty blocks: they answer 0, which is no price', () => {
    const quote = quoteFrom(
      parseFeeHistory(
        history(
          [
            [0, 0, 0, 0, 0],
            [5, 6, 7, 8, 9],
            [0, 0, 0, 0, 0],
          ],
          [0, 0.3, 0],
        ),
      ),
      null,
      0n,
    );
    expect(quote).toMatchObject({ tips: { slow: 5n, standard: 6n, fast: 7n, urgent: 9n }, congestedTip: 8n });
  });

  it('takes the node’s suggestion when all blocks are empty, and the floor when that is lower', () => {
    const empty = parseFeeHistory(history([[0, 0, 0, 0, 0]], [0]));
    expect(quoteFrom(empty, 1_000n, 1n).tips).toEqual({ slow: 1_000n, standard: 1_000n, fast: 1_000n, urgent: 1_000n });
    expect(quoteFrom(empty, 3n, 50n).tips.slow).toBe(50n);
    expect(quoteFrom(parseFeeHistory({ ...history([[0]], [0]), reward: null }), null, 50n).tips.urgent).toBe(50n);
  });

  it('has the blob fee of the next block, and none where the chain has no blobs', () => {
    const withBlobs = (baseFeePerBlobGas: unknown) =>
      quoteFrom(parseFeeHistory({ ...history([[1, 2, 3, 4, 5]]), baseFeePerBlobGas }), null, 0n).blobBaseFee;
    expect(withBlobs(['0x1', '0x7'])).toBe(7n);
    expect(withBlobs(['0x0', '0x0'])).toBeNull();
    expect(withBlobs(null)).toBeNull();
  });

  it('is not moved by a mad block among sane ones: medians decide', () => {
    const rewards = fc.array(fc.integer({ min: 10, max: 30 }), { minLength: 3, maxLength: 20 });
    fc.assert(
      fc.property(rewards, fc.nat(19), fc.nat(), (sane, place, mad) => {
        const tips = sane.map((tip) => [tip, tip, tip, tip, tip]);
        const withMad = tips.toSpliced(place % tips.length, 0, [mad, mad, mad, mad, mad]);
        const quote = quoteFrom(parseFeeHistory(history(withMad)), null, 0n);
        expect(quote.tips.urgent >= 10n && quote.tips.urgent <= 30n).toBe(true);
        expect(quote.congestedTip >= 10n && quote.congestedTip <= 30n).toBe(true);
      }),
    );
  });

  it('is never below the floor, and never cheaper for a faster speed', () => {
    const row = fc.array(fc.nat(1_000), { minLength: 5, maxLength: 5 });
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 20 }), fc.nat(500), (rewards, floor) => {
        const { tips, congestedTip } = quoteFrom(parseFeeHistory(history(rewards)), null, BigInt(floor));
        const list = [BigInt(floor), tips.slow, tips.standard, tips.fast, congestedTip, tips.urgent];
        expect(list).toEqual([...list].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)));
      }),
    );
  });

  it.each<[string, object, Partial<FeeHistory>]>([
    ['as many base fees as blocks', { baseFeePerGas: ['0x8'] }, { nextBaseFee: 9n }],
    ['too few base fees', { baseFeePerGas: [] }, { nextBaseFee: null }],
    ['no base fees', { baseFeePerGas: undefined }, { nextBaseFee: null }],
    ['a base fee that is no number', { baseFeePerGas: ['0x1', null] }, { nextBaseFee: null }],
    ['a missing percentile', { reward: [['0x1', '0x2', '0x3', '0x4']] }, { tips: null }],
    ['a percentile that is no number', { reward: [['0x1', '0x2', '0x3', '0x4', '5']] }, { tips: null }],
    ['empty tips', { reward: [[]] }, { tips: null }],
    ['a blob fee that is no number', { baseFeePerBlobGas: ['0x1', null] }, { nextBlobBaseFee: null }],
  ])('%s: what is left counts', (_name, fields, expected) => {
    const whole = { newestBlock: 100, nextBaseFee: 9n, nextBlobBaseFee: null };
    expect(parseFeeHistory({ ...history([[1, 2, 3, 4, 5]]), ...fields })).toMatchObject({ ...whole, ...expected });
  });

  it.each<[string, unknown]>([
    ['nothing', null],
    ['no blocks', { ...history([]), baseFeePerGas: [] }],
    ['no heights', { ...history([[1, 2, 3, 4, 5]]), oldestBlock: null }],
  ])('%s is malformed', (_name, answer) => expect(() => parseFeeHistory(answer)).toThrow(MalformedAnswer));
});

describe('asking for a quote', () => {
  let node: FakeRpcServer;
  let fixture: ReturnType<typeof aConnector>;

  beforeEach(async () => {
    node = await new FakeRpcServer().start();
    node.answer = ({ method }) => ({ result: method === 'eth_feeHistory' ? history([[1, 2, 3, 4, 5]]) : '0x5' });
    fixture = aConnector([node.url]);
  });

  afterEach(async () => {
    await fixture.pool.close();
    await node.stop();
  });

  it('costs one call for all who ask at the same time, and for a second after', async () => {
    await Promise.all(Array.from({ length: 10 }, () => fixture.connector.feeQuote()));
    await fixture.connector.feeQuote();
    expect(node.asked).toEqual(['eth_feeHistory']);
    fixture.clock.advance(1_001);
    await fixture.connector.feeQuote();
    expect(node.asked).toHaveLength(2);
  });

  it('is asked again when there is a new head', async () => {
    await fixture.connector.feeQuote();
    const blockHash = `0x${'1'.repeat(64)}`;
    const head = { number: hex(101), hash: blockHash, parentHash: blockHash, timestamp: '0x1' };
    node.answer = ({ method }) => ({
      result: method === 'eth_feeHistory' ? history([[1, 2, 3, 4, 5]], [1], 101) : head,
    });
    await fixture.connector.head();
    expect(await fixture.connector.feeQuote()).toMatchObject({ blockNumber: 101 });
  });

  it('asks for a suggestion only when the chain is quiet', async () => {
    node.answer = ({ method }) => ({
      result: method === 'eth_feeHistory' ? history([[0, 0, 0, 0, 0]], [0]) : '0x3b9aca00',
    });
    expect((await fixture.connector.feeQuote()).tips.standard).toBe(1_000_000_000n);
    expect(node.asked).toEqual(['eth_feeHistory', 'eth_maxPriorityFeePerGas']);
  });

  it('is refused inside a database transaction, also when it is in the cache', async () => {
    await fixture.connector.feeQuote();
    await expect(insideTransaction(() => fixture.connector.feeQuote())).rejects.toMatchObject({
      name: 'InvariantViolation',
    });
  });
});
