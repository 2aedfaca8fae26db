import { beforeEach, describe, expect, it } from '@jest/globals';
import { EndpointSelection } from '../../../src/modules/chain/infrastructure/rpc/endpoint-selection.js';
import { HeadComparison } from '../../../src/modules/chain/infrastructure/rpc/head-comparison.js';
import type { PoolMember } from '../../../src/modules/chain/infrastructure/rpc/pool-member.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { aMember, CHAIN, FakeEndpoint } from './fake-endpoint.js';

const MAX_WAIT_MS = 1_000;
const DOWN = { reason: 'http', message: 'HTTP 502' } as const;

describe('EndpointSelection.candidates', () => {
  let clock: FakeClock;
  let a: PoolMember;
  let b: PoolMember;
  let waits: number[];

  beforeEach(() => {
    clock = new FakeClock();
    [a, b] = [aMember(new FakeEndpoint('a'), clock), aMember(new FakeEndpoint('b'), clock)];
    for (const { health } of [a, b]) health.isOnChain();
    waits = [];
  });

  const candidates = (): Promise<PoolMember[]> => {
    // The positions are set by the test: with one member nothing is compared.
    const heads = new HeadComparison([a], clock, async () => undefined, 5);
    const pause = async (milliseconds: number): Promise<void> => void waits.push(milliseconds);
    return new EndpointSelection([a, b], heads, clock, pause, MAX_WAIT_MS).candidates();
  };
  const fail = (member: PoolMember, times = 3): void => {
    for (let n = 0; n < times; n += 1) member.health.failed(DOWN, clock.monotonicMs());
  };
  const askToWait = (member: PoolMember, retryAfterMs: number): void =>
    member.health.failed({ reason: 'rate_limited', message: 'HTTP 429', retryAfterMs }, clock.monotonicMs());

  it('keeps the order of the config while both are up', async () => {
    expect(await candidates()).toEqual([a, b]);
  });

  it('puts an endpoint that failed last', async () => {
    fail(a, 1);
    expect(await candidates()).toEqual([b, a]);
  });

  it('leaves out an endpoint in back-off', async () => {
    fail(a);
    expect(await candidates()).toEqual([b]);
  });

  it.each([
    ['lags', { lag: 6, isAhead: false }],
    ['is ahead', { lag: -100, isAhead: true }],
  ])('leaves out an endpoint that %s while another one is current', async (_words, position) => {
    a.health.setHeadPosition(position);
    expect(await candidates()).toEqual([b]);
  });

  it('keeps an endpoint that lags, as the last one, while the current one is not verified', async () => {
    const unverified = aMember(new FakeEndpoint('c'), clock);
    a.health.setHeadPosition({ lag: 6, isAhead: false });
    b = unverified;
    expect(await candidates()).toEqual([unverified, a]);
  });

  it('puts an endpoint that is ahead after one that lags', async () => {
    a.health.setHeadPosition({ lag: -100, isAhead: true });
    b.health.setHeadPosition({ lag: 6, isAhead: false });
    expect(await candidates()).toEqual([b, a]);
  });

  it('leaves out an endpoint of another chain, even when the back-off of the other one ends later', async () => {
    a.health.isOnOtherChain(CHAIN + 1, clock.monotonicMs());
    clock.advance(1_000);
    fail(b, 20);
    expect(await candidates()).toEqual([b]);
  });

  describe('when all are in back-off', () => {
    it('takes the one that is available first, and waits for it if it asked for that', async () => {
      askToWait(a, 900);
      askToWait(b, 500);
      expect(await candidates()).toEqual([b]);
      expect(waits).toEqual([500]);
    });

    it('takes it at once if the back-off is our own guess', async () => {
      fail(a);
      askToWait(b, 900);
      expect(await candidates()).toEqual([a]);
      expect(waits).toEqual([]);
    });

    it('takes none that asked for a longer wait than allowed', async () => {
      for (const member of [a, b]) askToWait(member, MAX_WAIT_MS + 1);
      expect(await candidates()).toEqual([]);
    });
  });
});
