import { describe, expect, it } from '@jest/globals';
import { describeDrift, driftMessage, type KeptState } from '../../../src/dev/drift.js';

const fitting: KeptState = {
  databaseExists: true,
  chainExists: true,
  databaseHasHistory: true,
  lastFinal: { number: 40, hash: '0xaa' },
  hashOnChain: '0xaa',
};

describe('drift between database and dev chain', () => {
  it.each<[string, Partial<KeptState>]>([
    ['the last final block is on the chain', {}],
    ['nothing was final yet', { lastFinal: null, hashOnChain: null }],
    [
      'it is the first start',
      { databaseExists: false, chainExists: false, databaseHasHistory: false, lastFinal: null },
    ],
    [
      'a first start was cut off before the chain was kept',
      { chainExists: false, databaseHasHistory: false, lastFinal: null },
    ],
  ])('there is none when %s', (_, state) => {
    expect(describeDrift({ ...fitting, ...state })).toBeNull();
  });

  it.each<[string, Partial<KeptState>, RegExp]>([
    ['the chain ends too early', { hashOnChain: null }, /ends before/],
    ['another chain has that block', { hashOnChain: '0xbb' }, /0xbb/],
    ['the database is gone', { databaseExists: false, databaseHasHistory: false, lastFinal: null }, /database is gone/],
    ['the chain is gone', { chainExists: false, hashOnChain: null }, /chain is gone/],
  ])('is found when %s', (_, state, words) => {
    const drift = describeDrift({ ...fitting, ...state });
    expect(drift).toMatch(words);
    expect(driftMessage(drift ?? '')).toContain('npm run reset');
  });
});
