import { describe, expect, it } from '@jest/globals';
import { EndpointHealth } from '../../../src/modules/chain/infrastructure/endpoint-health.js';

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
