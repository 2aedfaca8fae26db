import { beforeEach, describe, expect, it } from '@jest/globals';
import { StalledChains } from '../../../src/modules/chain/application/stalled-chains.js';
import { RecordingLog } from './chain-fixture.js';

const [CHAIN, OTHER_CHAIN] = [1, 2];

let log: RecordingLog;
let stalled: StalledChains;

beforeEach(() => {
  log = new RecordingLog();
  stalled = new StalledChains(log);
});

/** How many observations it takes until the chain has been stalled for too long. */
const observations = (chainId: number, reason: string): number => {
  for (let count = 1; count < 100; count += 1) if (stalled.isStalledTooLong(chainId, reason, {})) return count;
  return Infinity;
};

describe('StalledChains', () => {
  it('waits for thirty observations', () => {
    expect(observations(CHAIN, 'pruned')).toBe(31);
  });

  it('logs the reason with the first observation only', () => {
    for (let n = 0; n < 5; n += 1) stalled.isStalledTooLong(CHAIN, 'pruned', { tip: 7 });
    expect(log.lines).toEqual([{ event: 'pruned', fields: { chainId: CHAIN, tip: 7 } }]);
  });

  it('counts from the start for another reason', () => {
    for (let n = 0; n < 20; n += 1) stalled.isStalledTooLong(CHAIN, 'pruned', {});
    expect(observations(CHAIN, 'low head')).toBe(31);
    expect(log.lines.map(({ event }) => event)).toEqual(['pruned', 'low head']);
  });

  it('counts each chain by itself', () => {
    for (let n = 0; n < 20; n += 1) stalled.isStalledTooLong(CHAIN, 'pruned', {});
    expect(observations(OTHER_CHAIN, 'pruned')).toBe(31);
  });

  it('counts from the start after the chain advanced', () => {
    for (let n = 0; n < 20; n += 1) stalled.isStalledTooLong(CHAIN, 'pruned', {});
    stalled.clear(CHAIN);
    expect(observations(CHAIN, 'pruned')).toBe(31);
  });
});
