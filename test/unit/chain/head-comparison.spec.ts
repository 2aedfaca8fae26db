import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { HeadComparison } from '../../../src/modules/chain/infrastructure/rpc/head-comparison.js';
import type { RpcReply, RpcRequest } from '../../../src/modules/chain/infrastructure/rpc/json-rpc.js';
import { PoolMember } from '../../../src/modules/chain/infrastructure/rpc/pool-member.js';
import type { RpcEndpoint } from '../../../src/modules/chain/infrastructure/rpc/rpc-endpoint.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { RecordingLog } from './chain-fixture.js';

const CHAIN = 7;
const MAX_LAG = 5;

/** Tells its head at once, or not before the test lets it. */
class Told implements RpcEndpoint {
  readonly label = 'an endpoint';
  head = 100;
  questions = 0;
  answer: Promise<void> = Promise.resolve();

  async ask([request]: readonly RpcRequest[]): Promise<RpcReply[]> {
    if (request?.method === 'eth_chainId') return [{ kind: 'result', value: `0x${CHAIN.toString(16)}` }];
    this.questions += 1;
    const value = `0x${this.head.toString(16)}`;
    await this.answer;
    return [{ kind: 'result', value }];
  }

  askInOrder(requests: readonly RpcRequest[]): Promise<RpcReply[]> {
    return this.ask(requests);
  }

  async close(): Promise<void> {}
}

let clock: FakeClock;
let a: Told;
let b: Told;
let members: readonly [PoolMember, PoolMember];
let heads: HeadComparison;

beforeEach(() => {
  clock = new FakeClock();
  [a, b] = [new Told(), new Told()];
  const metrics = new FakeMetrics();
  const context = { chainId: CHAIN, errorPatterns: [], maxLag: MAX_LAG, metrics, clock, log: new RecordingLog() };
  members = [new PoolMember(a, context), new PoolMember(b, context)];
  const never = (): Promise<void> => new Promise(() => undefined);
  heads = new HeadComparison(members, clock, never, MAX_LAG);
});

/** Moves the clock, and looks; until whoever answers has answered. */
async function lookAfter(milliseconds: number): Promise<void> {
  clock.advance(milliseconds);
  await heads.refresh();
  for (let turn = 0; turn < 3; turn += 1) await nextTurn();
}

const lagOf = (index: 0 | 1): number | null => members[index].status().lagBlocks;

describe('a comparison of heads', () => {
  it('is made again after a second, and not before', async () => {
    await lookAfter(0);
    await lookAfter(999);
    expect(b.questions).toBe(1);
    await lookAfter(1);
    expect(b.questions).toBe(2);
  });

  it('is not made where there is nobody to compare with', async () => {
    heads = new HeadComparison([members[0]], clock, async () => undefined, MAX_LAG);
    await lookAfter(0);
    expect(a.questions).toBe(0);
  });

  it('asks one that has not answered yet no second time', async () => {
    await lookAfter(0);
    b.answer = new Promise(() => undefined);
    for (let look = 0; look < 3; look += 1) await lookAfter(1_000);
    expect([a.questions, b.questions]).toEqual([4, 2]);
  });

  it('does not ask one that asked to be left alone, until that time is over', async () => {
    await lookAfter(0);
    const busy = { reason: 'rate_limited', message: 'HTTP 429', retryAfterMs: 3_000 } as const;
    members[1].health.failed(busy, clock.monotonicMs());
    for (let look = 0; look < 2; look += 1) await lookAfter(1_000);
    expect([a.questions, b.questions]).toEqual([3, 1]);
    await lookAfter(1_000);
    expect(b.questions).toBe(2);
  });

  it('leaves the standing of one that has not answered yet: a head that is merely old proves no lag', async () => {
    await lookAfter(0);
    a.answer = new Promise(() => undefined);
    b.head = 150;
    await lookAfter(1_000);
    expect([lagOf(0), lagOf(1)]).toEqual([0, 0]);
  });

  it.each<[string, 0 | 1]>([
    ['first', 0],
    ['last', 1],
  ])('finds out the one of two that is far ahead from the start, also when it answers %s', async (_place, mad) => {
    const [told, honest] = mad === 0 ? [a, b] : [b, a];
    told.head = 0xffffff;
    await lookAfter(0);
    expect(members[mad].status()).toMatchObject({ state: 'ahead' });
    told.head += 1;
    honest.head += 1;
    await lookAfter(1_000);
    expect(members[mad].status()).toMatchObject({ state: 'ahead' });
  });

  it('believes the one that went on, block by block, however far behind the other stands still', async () => {
    await lookAfter(0);
    for (let look = 0; look < 80; look += 1) {
      a.head += 500;
      await lookAfter(50_000);
    }
    expect(members[0].status()).toMatchObject({ state: 'up' });
    expect([lagOf(0), lagOf(1)]).toEqual([0, 40_000]);
  });

  it('counts what another told a minute ago, and nothing older', async () => {
    a.head = 200;
    await lookAfter(0);
    expect([lagOf(0), lagOf(1)]).toEqual([0, 100]);
    a.answer = new Promise(() => undefined);
    b.head = 101;
    await lookAfter(60_000);
    expect(lagOf(1)).toBe(99);
    await lookAfter(1_000);
    expect(lagOf(1)).toBe(0);
  });
});
