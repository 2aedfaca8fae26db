import { describe, expect, it } from '@jest/globals';
import { describeMissingHalf, describeOtherChain, driftMessage } from '../../../src/dev/drift.js';

describe('drift between database and dev chain', () => {
  it.each([
    ['both are kept', { database: true, chain: true, history: true }],
    ['it is the first start', { database: false, chain: false, history: false }],
    ['a first start was cut off before the chain was kept', { database: true, chain: false, history: false }],
  ])('neither half is missing when %s', (_, kept) => {
    expect(describeMissingHalf(kept)).toBeNull();
  });

  it('is found when one of the two is gone', () => {
    expect(describeMissingHalf({ database: false, chain: true, history: false })).toMatch(/database is missing/);
    expect(describeMissingHalf({ database: true, chain: false, history: true })).toMatch(/chain is missing/);
  });

  it('is found when the chain lacks a final block, or has another one in its place', () => {
    const lastFinal = { number: 40, hash: '0xaa' };
    expect(describeOtherChain(lastFinal, '0xaa')).toBeNull();
    expect(describeOtherChain(lastFinal, null)).toMatch(/block 40 .*ends before/);
    expect(describeOtherChain(lastFinal, '0xbb')).toMatch(/block 40 .*0xbb/);
  });

  it('is told with the command that mends it', () => {
    expect(driftMessage('x')).toContain('npm run reset');
  });
});
