import { describe, expect, it } from '@jest/globals';
import { KNOWN_CHAINS } from '../../../src/config/chains/known-chains.js';
import { ChainConfig, LockstepConfig } from '../../../src/config/index.js';
import {
  chainInForce,
  IN_FLIGHT_START,
  maxLagOf,
  MIN_TIP_WEI_PER_GAS,
  type ProbedFacts,
} from '../../../src/config/chains/chain-in-force.js';

const [ETHEREUM, BASE, POLYGON, HEDERA, UNKNOWN] = [1, 8_453, 137, 295, 4_242];
const AT_LEAST = [
  1, 11_155_111, 17_000, 560_048, 10, 8_453, 42_161, 137, 56, 43_114, 100, 42_220, 59_144, 534_352, 324, 81_457, 5_000,
  130, 480, 1_284, 314, 295, 1_329, 80_094, 143, 999,
];

describe('the table of known chains', () => {
  it('has each chain once, and none that is made anew for each test', () => {
    const ids = KNOWN_CHAINS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(expect.arrayContaining(AT_LEAST));
    expect(ids).not.toContain(1_337);
    expect(ids).not.toContain(31_337);
  });

  it.each(KNOWN_CHAINS.map((chain) => [chain.name[0], chain] as const))(
    'has sources and sound values for %s',
    (_, chain) => {
      const { id, ...values } = chain;
      expect(id).toBeGreaterThan(0);
      for (const [key, [, source]] of Object.entries(values)) expect([key, source.trim().length]).not.toEqual([key, 0]);
      expect(chain.name[0].trim()).not.toBe('');
      expect(chain.nativeSymbol[0]).toMatch(/^[A-Z]{2,5}$/);
      expect(new URL(chain.explorer[0]).protocol).toBe('https:');
      expect(chain.blockTimeMs[0]).toBeGreaterThanOrEqual(100);
      expect(chain.blockTimeMs[0]).toBeLessThanOrEqual(60_000);
      const [finality] = chain.finality;
      // Our own default is the least depth, whatever others take.
      if (typeof finality === 'number') expect(finality).toBeGreaterThanOrEqual(20);
      else expect(['safe', 'finalized']).toContain(finality);
      const tip = chain.minPriorityFeePerGas?.[0] ?? MIN_TIP_WEI_PER_GAS;
      expect(tip >= MIN_TIP_WEI_PER_GAS && tip <= 100_000_000_000n).toBe(true);
      const [cap] = chain.transactionGasCap;
      if (cap !== null) expect(cap).toBeGreaterThanOrEqual(15_000_000);
      const start = chain.inFlightStart?.[0] ?? 1;
      expect(start >= 1 && start < IN_FLIGHT_START).toBe(true);
    },
  );
});

describe('the values in force of a chain', () => {
  const of = (config: object, all: object = {}, probed: ProbedFacts | null = null, execution: object = {}) =>
    chainInForce(
      Object.assign(new ChainConfig(), config),
      Object.assign(new LockstepConfig(), { confirmations: all, execution }),
      probed,
    );

  it('are those of its profile, with their sources, when the config has only id and endpoints', () => {
    const polygon = of({ id: POLYGON });
    expect(polygon).toMatchObject({
      name: { value: 'Polygon', from: 'profile' },
      finality: { value: 'depth', from: 'profile' },
      confirmations: { value: 500, from: 'profile' },
      minPriorityFeePerGas: { value: 30_000_000_000n, from: 'profile' },
      pollInterval: { value: 1_000, from: 'profile' },
      transactionGasCap: { value: 2 ** 25, from: 'profile' },
    });
    expect(polygon.confirmations.source).toContain('Polygon_Mainnet');
    expect(of({ id: BASE }).l1DataFee).toMatchObject({ value: 'optimism', from: 'profile' });
  });

  it('are those of the config, key by key, where it has them', () => {
    const config = {
      name: 'Ours',
      pollInterval: 123,
      maxLag: 9,
      l1DataFee: 'none',
      confirmations: { finality: 'safe' },
      fees: { minPriorityFeePerGas: 7n },
    };
    const chain = of({ id: POLYGON, ...config });
    const from = { from: 'config', source: null };
    expect(chain).toMatchObject({
      name: { value: 'Ours', ...from },
      pollInterval: { value: 123, ...from },
      maxLag: { value: 9, ...from },
      l1DataFee: { value: 'none', ...from },
      finality: { value: 'safe', ...from },
      minPriorityFeePerGas: { value: 7n, ...from },
      nativeSymbol: { value: 'POL', from: 'profile' },
    });
  });

  it('let a signer begin with what the nodes of the chain take of an account, unless the config says how many', () => {
    const start = (id: number, execution = {}) => of({ id }, {}, null, execution).inFlightStart;
    expect(start(HEDERA)).toEqual({ value: 1, from: 'profile', source: expect.stringContaining('WRONG_NONCE') });
    expect(start(HEDERA, { inFlightStart: 5 })).toEqual({ value: 5, from: 'config', source: null });
    expect(start(ETHEREUM)).toEqual({ value: 64, from: 'default', source: null });
  });

  it.each([
    ['of all chains', {}, { required: 3 }],
    ['of this chain', { confirmations: { required: 3 } }, {}],
  ])('take a number of blocks %s for a depth, in place of the tag of the profile', (_words, config, all) => {
    expect(of({ id: ETHEREUM, ...config }, all)).toMatchObject({
      finality: { value: 'depth', from: 'config' },
      confirmations: { value: 3, from: 'config' },
    });
  });

  it('have the tag of the config also where this chain has only a number of blocks', () => {
    const { finality } = of({ id: ETHEREUM, confirmations: { required: 3 } }, { finality: 'safe' });
    expect(finality).toMatchObject({ value: 'safe', from: 'config' });
  });

  it('have the default depth where the config asks for a depth and the profile has a tag', () => {
    expect(of({ id: ETHEREUM }).finality).toMatchObject({ value: 'finalized', from: 'profile' });
    expect(of({ id: ETHEREUM }, { finality: 'depth' }).confirmations).toMatchObject({ value: 20, from: 'default' });
  });

  it('are the defaults of before, and what was probed, for a chain without a profile', () => {
    const byDefault = { from: 'default', source: null };
    expect(of({ id: UNKNOWN })).toMatchObject({
      name: { value: null, ...byDefault },
      pollInterval: { value: 1_000, ...byDefault },
      maxLag: { value: 5, ...byDefault },
      finality: { value: 'depth', ...byDefault },
      confirmations: { value: 20, ...byDefault },
      minPriorityFeePerGas: { value: MIN_TIP_WEI_PER_GAS, ...byDefault },
      l1DataFee: { value: 'none', ...byDefault },
      feeType: { value: null, ...byDefault },
    });
    const probed = { blockTimeMs: 400, feeType: 'legacy' } as const;
    expect(of({ id: UNKNOWN }, {}, probed)).toMatchObject({
      blockTimeMs: { value: 400, from: 'probed' },
      feeType: { value: 'legacy', from: 'probed' },
      pollInterval: { value: 1_000, ...byDefault },
    });
    expect(of({ id: POLYGON }, {}, probed).blockTimeMs).toMatchObject({ value: 2_000, from: 'profile' });
  });

  it('poll a fast chain twice a second at most and a slow one every three seconds at least, and let fast endpoints be further apart', () => {
    const [arbitrum, filecoin] = [of({ id: 42_161 }), of({ id: 314 })];
    expect([arbitrum.pollInterval.value, arbitrum.maxLag.value]).toEqual([500, 40]);
    expect([filecoin.pollInterval.value, filecoin.maxLag.value]).toEqual([3_000, 5]);
    expect(maxLagOf(0)).toBeLessThan(Infinity);
  });
});
