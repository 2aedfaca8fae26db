import { beforeEach, describe, expect, it } from '@jest/globals';
import { EndpointHealth } from '../../../src/modules/chain/infrastructure/rpc/endpoint-health.js';

const LIMITED = { reason: 'rate_limited', message: 'HTTP 429' } as const;

/** How long an endpoint is left alone after it said this many times in a row. Milliseconds. */
function pauseAfter(times: number, retryAfterMs?: number): number {
  const health = new EndpointHealth(5);
  for (let n = 0; n < times; n++) health.failed(retryAfterMs === undefined ? LIMITED : { ...LIMITED, retryAfterMs }, 0);
  return health.availableAt;
}

describe('an endpoint that limits its clients', () => {
  it('is left alone for as long as it asks, however often it asked before', () => {
    expect([pauseAfter(1, 700), pauseAfter(50, 700)]).toEqual([700, 700]);
  });

  it('is not asked again at once, also when it asks for no pause at all', () => {
    expect(pauseAfter(50, 0)).toBe(250);
  });

  it('is left alone longer each time when it does not say how long, up to a few seconds', () => {
    expect([1, 2, 3, 4, 5, 50].map((times) => pauseAfter(times))).toEqual([250, 500, 1_000, 1_000, 1_000, 1_000]);
  });
});

describe('an endpoint that fails', () => {
  const DOWN = { reason: 'timeout', message: 'no answer' } as const;
  let health: EndpointHealth;

  beforeEach(() => {
    health = new EndpointHealth(5);
    health.isOnChain();
  });

  const failed = (times: number): number => {
    for (let n = 0; n < times; n++) health.failed(DOWN, 0);
    return health.availableAt;
  };

  it('is left alone from the third failure in a row on, longer each time, and half a minute at most', () => {
    const pauses = Array.from({ length: 11 }, () => failed(1));
    expect(pauses).toEqual([0, 0, 250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  });

  it('has nothing held against it after an answer', () => {
    failed(3);
    health.answered(10);
    expect([health.availableAt, health.failedLately, health.penalty]).toEqual([0, false, 1_000_000]);
    expect([failed(2), failed(1)]).toEqual([0, 250]);
  });

  it('must say its chain id again when it was left alone, and not before', () => {
    failed(2);
    expect(health.verified).toBe(true);
    failed(1);
    expect(health.verified).toBe(false);
  });

  it.each(['connection', 'unreachable'] as const)('must say its chain id again after one failure: %s', (reason) => {
    health.failed({ reason, message: 'gone' }, 0);
    expect(health.verified).toBe(false);
  });

  it('need not say its chain id again when it only limits its clients', () => {
    for (let n = 0; n < 5; n++) health.failed(LIMITED, 0);
    expect([health.verified, health.mustWait]).toEqual([true, true]);
  });

  it('comes after one that does not, and after one that is slower', () => {
    const [well, slow] = [new EndpointHealth(5), new EndpointHealth(5)];
    well.isOnChain();
    slow.isOnChain();
    slow.answered(10_000);
    failed(1);
    expect([well.penalty, slow.penalty, health.penalty]).toEqual([0, 20, 1_000]);
    expect(new EndpointHealth(5).penalty).toBe(1_000_000);
  });

  it('is slow by its average: one slow answer counts for a fifth', () => {
    expect(health.status(0).latencyMs).toBeNull();
    health.answered(1_000);
    health.answered(6_000);
    expect(health.status(0).latencyMs).toBe(2_000);
  });

  it('is not asked before the time it names, also when it is no limit of rates', () => {
    health.failed({ reason: 'http', message: 'HTTP 503', retryAfterMs: 30_000 }, 0);
    expect([health.mustWait, health.availableAt, health.verified]).toEqual([true, 30_000, true]);
  });

  it('is shown as one that has yet to say its chain id, once its pause is over', () => {
    failed(3);
    expect([health.status(249).state, health.status(250).state]).toEqual(['backing_off', 'unverified']);
  });
});

describe('an endpoint of another chain', () => {
  it('is asked for its chain id again after half a minute, and for nothing else', () => {
    const health = new EndpointHealth(5);
    health.setHeadPosition({ lag: 9, isAhead: false });
    health.isOnOtherChain(7, 1_000);
    expect([health.isOfAnotherChain, health.lagging, health.mustWait]).toEqual([true, false, true]);
    expect([health.isCandidate(30_999), health.isCandidate(31_000)]).toEqual([false, true]);
    expect([health.status(30_999).state, health.status(31_000).state]).toEqual(['wrong_chain', 'wrong_chain']);
    health.isOnChain();
    expect([health.isOfAnotherChain, health.isCandidate(0)]).toEqual([false, true]);
  });
});

describe('an endpoint among others', () => {
  it.each([
    [5, false, { lagging: false, ahead: false, isCurrent: true }],
    [6, false, { lagging: true, ahead: false, isCurrent: false }],
    [-3, true, { lagging: false, ahead: true, isCurrent: false }],
  ])('%p blocks behind, ahead %p, with a maxLag of 5', (lag, isAhead, expected) => {
    const health = new EndpointHealth(5);
    expect(health.isCurrent).toBe(true);
    health.setHeadPosition({ lag, isAhead });
    expect(health).toMatchObject(expected);
  });

  it.each([
    ['backing_off', 249],
    ['up', 250],
  ] as const)('is %s at %p ms of a pause of 250', (state, now) => {
    const health = new EndpointHealth(5);
    health.isOnChain();
    health.failed({ ...LIMITED, retryAfterMs: 250 }, 0);
    expect(health.status(now).state).toBe(state);
  });
});
