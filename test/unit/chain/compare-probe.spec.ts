import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { ChainConfig, chainInForce, configFrom, LockstepConfig } from '../../../src/config/index.js';
import { configLinesOf, differencesOf } from '../../../src/modules/chain/application/compare-probe.js';
import type { ProbedChain } from '../../../src/modules/chain/domain/probed-chain.js';

const BASE = 8_453;
const AS_BASE: ProbedChain = {
  blockTimeMs: 2_000,
  feeType: 'eip1559',
  tags: ['safe', 'finalized'],
  takesBatches: true,
  missingMethods: [],
  hasDataFeeOracle: true,
};
const inForce = (id: number, config: object = {}) =>
  chainInForce(Object.assign(new ChainConfig(), { id, ...config }), new LockstepConfig());

describe('what an endpoint shows', () => {
  it('differs in nothing from the profile of its chain', () => {
    expect(differencesOf(inForce(BASE), AS_BASE)).toEqual([]);
    expect(differencesOf(inForce(BASE), { ...AS_BASE, blockTimeMs: null })).toEqual([]);
  });

  it.each<[string, Partial<ProbedChain>]>([
    ['feeType', { feeType: 'legacy' }],
    ['finality', { tags: ['safe'] }],
    ['l1DataFee', { hasDataFeeOracle: false }],
    ['blockTimeMs', { blockTimeMs: 6_001 }],
    ['blockTimeMs', { blockTimeMs: 666 }],
  ])('differs in %s', (field, shown) => {
    expect(differencesOf(inForce(BASE), { ...AS_BASE, ...shown })).toEqual([expect.objectContaining({ field })]);
  });

  it('is no difference of a factor of three, nor where the config does not need what is missing', () => {
    expect(differencesOf(inForce(BASE), { ...AS_BASE, blockTimeMs: 6_000 })).toEqual([]);
    const config = { confirmations: { finality: 'depth' }, l1DataFee: 'none' };
    expect(differencesOf(inForce(BASE, config), { ...AS_BASE, tags: [], hasDataFeeOracle: false })).toEqual([]);
  });

  it('has nothing to differ from without a profile', () => {
    expect(differencesOf(inForce(4_242), { ...AS_BASE, tags: [], hasDataFeeOracle: false })).toEqual([]);
  });

  it.each<[string, Partial<ProbedChain>, object]>([
    [
      'a rollup',
      {},
      { pollInterval: 1_000, maxLag: 5, l1DataFee: 'optimism', confirmations: { finality: 'finalized' } },
    ],
    [
      'a young chain with nothing',
      {
        blockTimeMs: null,
        feeType: 'legacy',
        tags: [],
        takesBatches: false,
        missingMethods: ['eth_feeHistory'],
        hasDataFeeOracle: false,
      },
      { l1DataFee: 'none', confirmations: { finality: 'depth' } },
    ],
  ])('becomes lines that the config loader takes: %s', (_words, shown, expected) => {
    const lines = ['id: 4242', 'rpcUrls: [http://127.0.0.1:1]', ...configLinesOf({ ...AS_BASE, ...shown })];
    const file = parse(
      ['database: { url: postgres://db/x }', 'chains:', '  -', ...lines.map((line) => `    ${line}`)].join('\n'),
    );
    expect(configFrom(file).chains).toMatchObject([expected]);
  });
});
