import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { FastifyReply } from 'fastify';
import { configFrom } from '../../../../src/config/index.js';
import { AccountLimits } from '../../../../src/platform/limits/account-limits.js';
import { RateLimited } from '../../../../src/platform/limits/rate-limited.js';
import { RequestLimits } from '../../../../src/platform/limits/request-limits.js';
import { ServingNodes } from '../../../../src/platform/limits/serving-nodes.js';
import { FakeClock } from '../../../support/fakes/fake-clock.js';
import { FakeMetrics } from '../../../support/fakes/fake-metrics.js';

class Answer {
  readonly headers: Record<string, unknown> = {};
  readonly raw = Object.assign(new EventEmitter(), { destroyed: false }) as unknown as ServerResponse;

  readonly header = ((name: string, value: unknown) => {
    this.headers[name] = value;
    return this;
  }) as unknown as FastifyReply['header'];
}

const [FEW, FREE] = ['an account with limits', 'another one'];
let clock: FakeClock;
let nodes: ServingNodes;
let metrics: FakeMetrics;
let limits: RequestLimits;

beforeEach(() => {
  const { limits: config } = configFrom({
    database: { url: 'postgres://h/d' },
    chains: [{ id: 1, rpcUrls: ['http://h'] }],
  });
  [clock, nodes, metrics] = [new FakeClock(), new ServingNodes(), new FakeMetrics()];
  const accounts = new AccountLimits(config, metrics);
  accounts.update(new Map([[FEW, { requestsPerSecond: 2, bytesPerSecond: 100, streams: 3 }]]));
  limits = new RequestLimits(accounts, nodes, clock);
});

/** @returns what the answer says; the limit and the seconds to wait when it is refused */
function send(
  account: string,
  { requests = 1, bytes = 0, isLong = false } = {},
): Answer & { refused?: readonly [unknown, number] } {
  const answer = new Answer();
  try {
    limits.admit(account, { requests, bytes, isLong }, answer);
    return answer;
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error;
    return Object.assign(answer, { refused: [error.facts['limit'], error.retryAfterSeconds] as const });
  }
}
const admitted = (count: number, account = FEW): number =>
  Array.from({ length: count }, () => send(account)).filter(({ refused }) => refused === undefined).length;

describe('an account', () => {
  it('may send what it may in five seconds at once, then its rate; another one is not concerned, and has no headers', () => {
    expect(admitted(20)).toBe(10);
    expect(send(FEW).refused).toEqual(['requests', 1]);
    expect(admitted(20, FREE)).toBe(20);
    expect(send(FREE).headers).toEqual({});
    clock.advance(1_000);
    expect(admitted(20)).toBe(2);
    expect(metrics.counted('limited_total')).toEqual({ requests: 29 });
  });

  it('may send one batch above its limit, and passes again after the seconds that its refusal says, and not before', () => {
    admitted(9);
    expect(send(FEW, { requests: 21 }).refused).toBeUndefined();
    const [, seconds] = send(FEW).refused ?? [];
    expect(seconds).toBe(11);
    clock.advance(10_000);
    expect(admitted(1)).toBe(0);
    clock.advance(1_000);
    expect(admitted(1)).toBe(1);
  });

  it('is told what it may, what is left and when all of it is there again, also when it is refused', () => {
    const answer = send(FEW, { bytes: 120 });
    expect(answer.headers).toEqual({
      'ratelimit-policy': '"requests";q=10;w=5, "bytes";q=500;w=5;qu="content-bytes"',
      ratelimit: '"requests";r=9;t=1, "bytes";r=380;t=2',
    });
    admitted(9);
    expect(send(FEW).headers).toMatchObject({ ratelimit: '"requests";r=0;t=5, "bytes";r=380;t=2' });
  });

  it('may send one body above its limit, and then none until that is paid; what has no body passes', () => {
    expect(send(FEW, { bytes: 1_500 }).refused).toBeUndefined();
    expect(send(FEW, { bytes: 1 }).refused).toEqual(['bytes', 11]);
    expect(admitted(1)).toBe(1);
  });

  it('has its share of each node that serves', () => {
    nodes.seen(2);
    expect(admitted(20)).toBe(5);
    clock.advance(1_000);
    expect(admitted(20)).toBe(1);
  });

  it('may have so many long requests open, each until its connection or its answer has ended', () => {
    const open = [1, 2, 3].map(() => send(FEW, { isLong: true }));
    expect(open.map(({ refused }) => refused)).toEqual([undefined, undefined, undefined]);
    expect(send(FEW, { isLong: true }).refused).toEqual(['streams', 5]);
    expect(send(FREE, { isLong: true }).refused).toBeUndefined();
    open[0]?.raw.emit('close');
    clock.advance(5_000);
    expect(send(FEW, { isLong: true }).refused).toBeUndefined();
    expect(send(FEW, { isLong: true }).refused).toEqual(['streams', 5]);
  });
});
