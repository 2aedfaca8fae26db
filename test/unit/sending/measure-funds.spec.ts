import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ChainConnector, ChainRules } from '../../../src/modules/chain/index.js';
import type { FeeRules } from '../../../src/modules/sending/application/fee-rules.js';
import { MeasureFunds } from '../../../src/modules/sending/application/measure-funds.js';
import type { FundsRepository } from '../../../src/modules/ledger/index.js';
import type { Priceable } from '../../../src/modules/sending/application/fee-rules.js';
import { aRequest, aSigner } from '../../support/builders.js';
import { type QueuedCost } from '../../../src/modules/ledger/domain/funds.repository.js';

const [A, B] = [aSigner(1), aSigner(2)];
const cost = (overrides: Partial<QueuedCost>): QueuedCost => ({
  fees: aRequest().fees,
  speed: 'standard',
  count: 1,
  value: 0n,
  gas: 0n,
  blobs: 0n,
  ...overrides,
});

let lowBalance: bigint | null;
let committed: bigint[];
let queues: QueuedCost[][];
let asked: unknown[];
/** Of the txs whose prices were asked for. */
let gasLimits: bigint[];
let measure: MeasureFunds;
let chain: ChainConnector;

beforeEach(() => {
  [lowBalance, committed, queues, asked] = [null, [30n, 0n], [[], []], []];
  gasLimits = [];
  chain = {
    feeQuote: async () => ({}),
    balances: async (accounts: unknown) => (asked.push(accounts), [100n, 100n]),
  } as unknown as ChainConnector;
  measure = new MeasureFunds(
    { queued: async () => queues, committedWei: async () => committed } as unknown as FundsRepository,
    // The price of a request is as many wei as its speed has letters, and of a blob two more.
    {
      capsOf: () => null,
      clamped: (_caps: unknown, { request: { speed, payload }, gasLimit }: Priceable) => {
        gasLimits.push(gasLimit);
        const fee = BigInt(speed.length);
        return { maxFeePerGas: fee, ...(payload?.blobHashes && { maxFeePerBlobGas: fee + 2n }) };
      },
    } as unknown as FeeRules,
    { lowBalance: () => lowBalance } as unknown as ChainRules,
  );
});

const run = (most = 10) => measure.execute(chain, [A, B], most);

describe('the funds of a signer', () => {
  it('are what is in flight before the balance is read: a tx that is mined in between counts twice, and is not left out', async () => {
    const { balances } = chain;
    chain.balances = (accounts) => ((committed = [0n, 0n]), balances(accounts));
    expect((await run()).map(({ inFlight }) => inFlight)).toEqual([30n, 0n]);
  });

  it('are its balance, less what is in flight, less what waits, with the gas at the price of each request', async () => {
    queues = [[cost({ speed: 'fast', value: 1n, gas: 10n, count: 2 }), cost({ speed: 'urgent', gas: 3n })], []];
    const wei = 1n + 10n * 4n + 3n * 6n;
    expect(await run()).toMatchObject([
      { signer: A, balance: 100n, inFlight: 30n, queued: { count: 3, wei, isCut: false }, available: 70n, missing: 0n },
      { signer: B, balance: 100n, inFlight: 0n, queued: { count: 0, wei: 0n }, available: 100n },
    ]);
    expect(asked).toEqual([[A.address, B.address]]);
  });

  it('include the blobs of what waits', async () => {
    queues = [[cost({ speed: 'fast', value: 1n, gas: 10n, blobs: 3n })], [cost({ speed: 'fast', gas: 10n })]];
    expect((await run()).map(({ queued }) => queued.wei)).toEqual([1n + 40n + 3n * 131_072n * 6n, 40n]);
  });

  it('have the price of one transaction, whose gas alone nodes limit', async () => {
    queues = [[cost({ gas: 90n, count: 3 })], []];
    await run();
    expect(gasLimits).toEqual([30n]);
  });

  it('lack what flight and queue cost together above the balance, and are low then', async () => {
    queues = [[cost({ value: 71n })], [cost({ value: 100n })]];
    expect(await run()).toMatchObject([
      { missing: 1n, isLow: true },
      { missing: 0n, isLow: false },
    ]);
    committed = [130n, 0n];
    expect((await run())[0]).toMatchObject({ available: 0n, missing: 101n });
  });

  it('are low below the limit of the chain, and not at it', async () => {
    lowBalance = 100n;
    expect((await run()).map(({ isLow }) => isLow)).toEqual([false, false]);
    lowBalance = 101n;
    expect((await run()).map(({ isLow }) => isLow)).toEqual([true, true]);
  });

  it('say when only a part of the queue was counted', async () => {
    queues = [[cost({ count: 10 })], [cost({ count: 9 })]];
    expect((await run()).map(({ queued }) => queued.isCut)).toEqual([true, false]);
  });

  it('of no signer cost no call', async () => {
    expect(await measure.execute(chain, [], 10)).toEqual([]);
    expect(asked).toEqual([]);
  });
});
