import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ChainFees, GasEstimate } from '../../../src/modules/chain/index.js';
import { EthersChainConnector } from '../../../src/modules/chain/infrastructure/ethers-chain-connector.js';
import type { GasRules } from '../../../src/modules/sending/application/gas-rules.js';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { gasRules } from '../../support/gas-rules.js';

const [SIGNER, OTHER] = [aSigner(1), aSigner(2)];
const HOUR_MS = 3_600_000;

let clock: FakeClock;
let rules: GasRules;
/** By sender; null for a node that gives no estimate. */
let gas: Map<string, bigint | null>;
let asked: string[];

beforeEach(() => {
  [clock, gas, asked] = [new FakeClock(), new Map(), []];
  rules = gasRules(undefined, clock);
});

const chain = (chainId = DEV_CHAIN): ChainFees =>
  fakeOf(EthersChainConnector, {
    chainId,
    estimateGas: async (calls) =>
      calls.map(({ from }): GasEstimate => {
        asked.push(from);
        const known = gas.get(from) ?? null;
        return known === null ? { kind: 'unavailable', message: 'busy' } : { kind: 'ok', gas: known };
      }),
  });

async function noOp(signer = SIGNER, tooLittle: bigint | null = null, on = chain()): Promise<bigint | undefined> {
  return (await rules.ofNoOps(on, [{ signer, tooLittle }]))[0];
}

describe('the gas of a no-op', () => {
  it('is that of a plain transfer, without a margin, where the chain asks for no more', async () => {
    gas.set(SIGNER.address, 21_000n);
    expect(await noOp()).toBe(21_000n);
  });

  it.each([
    ['Arbitrum', 21_800n, 27_250n],
    ['zkSync Era', 155_500n, 194_375n],
    ['Mantle', 269_580_441n, 336_975_551n],
  ])('has a margin where it is more (%s)', async (_chain, estimate, limit) => {
    gas.set(SIGNER.address, estimate);
    expect(await noOp()).toBe(limit);
  });

  it('is asked for once an hour, however many slots are closed', async () => {
    gas.set(SIGNER.address, 22_000n);
    await rules.ofNoOps(chain(), [{ signer: SIGNER }, { signer: SIGNER }]);
    clock.advance(HOUR_MS - 1);
    await noOp();
    expect(asked).toHaveLength(1);
    gas.set(SIGNER.address, 40_000n);
    clock.advance(1);
    expect([await noOp(), asked.length]).toEqual([50_000n, 2]);
  });

  it('is known of each account by itself: one that delegates runs code', async () => {
    gas.set(SIGNER.address, 21_000n).set(OTHER.address, 40_000n);
    expect([await noOp(), await noOp(OTHER)]).toEqual([21_000n, 50_000n]);
  });

  it('is that of others of the chain, and of no other chain, while there is no estimate', async () => {
    gas.set(SIGNER.address, 40_000n);
    await noOp();
    expect([await noOp(OTHER), await noOp({ ...OTHER, chainId: 5 }, null, chain(5))]).toEqual([50_000n, 21_000n]);
  });

  it('is asked for again when it was too little, and is more than that in any case', async () => {
    gas.set(SIGNER.address, 21_000n);
    await noOp();
    expect(await noOp(SIGNER, 21_000n)).toBe(26_250n);
    gas.set(SIGNER.address, 80_000n);
    expect(await noOp(SIGNER, 26_250n)).toBe(100_000n);
    expect([await noOp(), asked.length]).toEqual([100_000n, 3]);
    gas.clear();
    expect(await noOp(SIGNER, 100_000n)).toBe(125_000n);
  });

  it('is asked for again when it could not be paid, and is not what it was when there is no answer', async () => {
    gas.set(SIGNER.address, 20_000_000n);
    await noOp();
    const unpaid = async () => (await rules.ofNoOps(chain(), [{ signer: SIGNER, isUnpaid: true }]))[0];
    gas.set(SIGNER.address, 24_000n);
    expect([await unpaid(), await noOp()]).toEqual([30_000n, 30_000n]);
    gas.clear();
    expect(await unpaid()).toBe(21_000n);
  });
});

describe('the gas limit for an estimate', () => {
  const limit = (cap: bigint | undefined, estimate: bigint, blockGas?: bigint): bigint =>
    gasRules(cap).limit(DEV_CHAIN, { gas: estimate, ...(blockGas !== undefined && { blockGas }) });

  it('has a margin, which ends at the cap of its chain', () => {
    expect(limit(15_000_000n, 10_000_000n)).toBe(12_500_000n);
    expect(limit(15_000_000n, 14_000_000n)).toBe(15_000_000n);
    expect(limit(15_000_000n, 15_000_000n)).toBe(15_000_000n);
  });

  it('ends at 2^24 where no cap is known, unless the estimate shows that there is none', () => {
    expect(limit(undefined, 15_000_000n)).toBe(1n << 24n);
    expect(limit(undefined, 1n << 24n)).toBe(1n << 24n);
    expect(limit(undefined, (1n << 24n) + 1n)).toBe(20_971_521n);
    expect(limit(undefined, 269_580_441n)).toBe(336_975_551n);
  });

  it('has all of its margin on a chain without a cap', () => {
    expect(limit(0n, 15_000_000n)).toBe(18_750_000n);
  });

  it('ends at what the database can store', () => {
    expect(limit(0n, (1n << 63n) - 1n)).toBe((1n << 63n) - 1n);
  });

  it('ends at the gas of a block', () => {
    expect(limit(undefined, 25_000_000n, 30_000_000n)).toBe(30_000_000n);
    expect(limit(undefined, 7_000_000n, 8_000_000n)).toBe(8_000_000n);
  });
});
