import { beforeEach, describe, expect, it } from '@jest/globals';
import { FailoverReads } from '../../../src/modules/chain/infrastructure/rpc/failover-reads.js';
import { failed, type RpcReply } from '../../../src/modules/chain/infrastructure/rpc/json-rpc.js';
import type { PoolMember } from '../../../src/modules/chain/infrastructure/rpc/pool-member.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { aMember, CHAIN, FakeEndpoint } from './fake-endpoint.js';

const READ = [{ method: 'eth_blockNumber', params: [] }];
const MAX_WAIT_MS = 1_000;
const NO_ENDPOINT = { reason: 'unreachable', mayHaveArrived: false, message: 'no endpoint' } as const;
const DOWN = failed({ reason: 'http', mayHaveArrived: true, message: 'HTTP 502' });
const RESET = failed({ reason: 'connection', mayHaveArrived: true, message: 'closed' });
const RATE_LIMITED = failed({ reason: 'rate_limited', mayHaveArrived: true, message: 'HTTP 429' });
const REVERTED: RpcReply = { kind: 'error', error: { code: 3, message: 'execution reverted', data: undefined } };

describe('FailoverReads.read', () => {
  let clock: FakeClock;
  let a: FakeEndpoint;
  let b: FakeEndpoint;
  let onSelect: () => void;

  beforeEach(() => {
    clock = new FakeClock();
    [a, b] = [new FakeEndpoint('a'), new FakeEndpoint('b')];
    onSelect = () => undefined;
  });

  const read = async (...endpoints: readonly FakeEndpoint[]): Promise<RpcReply | undefined> => {
    const members = endpoints.map((endpoint) => aMember(endpoint, clock));
    const candidates = async (): Promise<PoolMember[]> => {
      onSelect();
      return members;
    };
    const options = { errorPatterns: [], maxWaitMs: MAX_WAIT_MS, candidates, noEndpoint: () => NO_ENDPOINT };
    const [reply] = await new FailoverReads(options, clock).read(READ);
    return reply;
  };

  it('answers from the first candidate, and does not ask the next one', async () => {
    expect(await read(a, b)).toMatchObject({ kind: 'result', value: 'a' });
    expect(b.questions).toBe(0);
  });

  it('asks the next candidate after a failure', async () => {
    a.reply = DOWN;
    expect(await read(a, b)).toMatchObject({ kind: 'result', value: 'b' });
  });

  it('does not ask the next candidate after an error about the request', async () => {
    a.reply = REVERTED;
    expect(await read(a, b)).toEqual(REVERTED);
    expect(b.questions).toBe(0);
  });

  it('leaves out an endpoint of another chain', async () => {
    a.chainId = CHAIN + 1;
    expect(await read(a, b)).toMatchObject({ kind: 'result', value: 'b' });
    expect(a.questions).toBe(0);
  });

  it('asks the only candidate a second time after a closed connection, and not after another failure', async () => {
    a.reply = DOWN;
    await read(a);
    expect(a.questions).toBe(1);
    a.reply = RESET;
    await read(a);
    expect(a.questions).toBe(3);
  });

  it('repeats a read that was only rate limited, until the time is over', async () => {
    a.reply = RATE_LIMITED;
    onSelect = () => clock.advance(MAX_WAIT_MS / 4);
    expect(await read(a)).toEqual(RATE_LIMITED);
    expect(a.questions).toBe(4);
  });

  it('does not repeat a read that failed for another reason', async () => {
    a.reply = DOWN;
    onSelect = () => clock.advance(MAX_WAIT_MS / 4);
    expect(await read(a)).toEqual(DOWN);
    expect(a.questions).toBe(1);
  });

  it('fails without a candidate', async () => {
    expect(await read()).toEqual(failed(NO_ENDPOINT));
  });
});
