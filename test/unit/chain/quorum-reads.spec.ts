import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { QuorumReads, type EndpointAnswer } from '../../../src/modules/chain/infrastructure/rpc/quorum-reads.js';
import { failed, type RpcRequest } from '../../../src/modules/chain/infrastructure/rpc/json-rpc.js';
import type { Quorum } from '../../../src/modules/chain/domain/evidence.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { aMember, CHAIN, FakeEndpoint } from './fake-endpoint.js';

const QUESTION: RpcRequest = { method: 'eth_feeHistory', params: [] };

const REFUSED = failed({ reason: 'http', mayHaveArrived: true, message: 'HTTP 502' });
const TOO_MANY = failed({ reason: 'rate_limited', mayHaveArrived: true, message: 'HTTP 429', retryAfterMs: 5_000 });

describe('QuorumReads.read', () => {
  let clock: FakeClock;
  /** Ends the short wait. */
  let waitEnds: () => void;
  let pauses: number;

  beforeEach(() => {
    clock = new FakeClock();
    waitEnds = () => undefined;
    pauses = 0;
  });

  const among = (...endpoints: readonly FakeEndpoint[]) => {
    const pause = (): Promise<void> => {
      pauses += 1;
      return new Promise((resolve) => (waitEnds = resolve));
    };
    const reads = new QuorumReads(
      endpoints.map((endpoint) => aMember(endpoint, clock)),
      pause,
    );
    return (quorum: Quorum = 'half') => reads.read([QUESTION], quorum, clock.monotonicMs());
  };

  /** The result when it is there without another event; null while the read waits for an endpoint. */
  const soon = async (read: Promise<EndpointAnswer[]>): Promise<unknown[] | null> => {
    let result: unknown[] | null = null;
    void read.then((answers) => (result = answers.map(words)));
    await settled();
    return result;
  };

  it.each([
    ['first of two', 2, 0],
    ['last of two', 2, 1],
    ['one of three', 3, 1],
  ])('waits shortly for a hung endpoint, %s, once half of them have answered', async (_words, count, hung) => {
    const endpoints = Array.from({ length: count }, (_, i) => new FakeEndpoint(`w${i}`));
    const slow = endpoints[hung];
    if (slow) slow.isHung = true;
    const read = among(...endpoints)();
    expect(await soon(read)).toBeNull();
    expect(pauses).toBe(1);
    waitEnds();
    expect((await read).map(words)).toEqual(endpoints.map((each) => (each.isHung ? 'silent' : each.label)));
  });

  it('waits without a limit while less than half have answered', async () => {
    const [one, ...others] = [new FakeEndpoint('w0'), new FakeEndpoint('w1'), new FakeEndpoint('w2')];
    for (const other of others) other.isHung = true;
    expect(await soon(among(one, ...others)())).toBeNull();
    expect(pauses).toBe(0);
  });

  it('does not count a failure as an answer', async () => {
    const [one, other] = [new FakeEndpoint('w0'), new FakeEndpoint('w1')];
    one.reply = REFUSED;
    other.isHung = true;
    expect(await soon(among(one, other)())).toBeNull();
    expect(pauses).toBe(0);
  });

  it('counts an error of the node as an answer', async () => {
    const [one, other] = [new FakeEndpoint('w0'), new FakeEndpoint('w1')];
    one.reply = { kind: 'error', error: { code: -32000, message: 'missing trie node', data: undefined } };
    other.isHung = true;
    void among(one, other)();
    await settled();
    expect(pauses).toBe(1);
  });

  it('waits for each endpoint without a limit where every one must answer', async () => {
    const [one, other] = [new FakeEndpoint('w0'), new FakeEndpoint('w1')];
    other.isHung = true;
    expect(await soon(among(one, other)('every'))).toBeNull();
    expect(pauses).toBe(0);
  });

  describe('an endpoint whose last answer failed', () => {
    let well: FakeEndpoint;
    let ill: FakeEndpoint;
    let read: (quorum?: Quorum) => Promise<EndpointAnswer[]>;

    beforeEach(async () => {
      [well, ill] = [new FakeEndpoint('w0'), new FakeEndpoint('w1')];
      ill.reply = REFUSED;
      read = among(well, ill);
      expect(await soon(read())).toEqual(['w0', 'failed']);
    });

    it('gets a short wait, even where every one must answer', async () => {
      ill.isHung = true;
      const before = pauses;
      const reading = read('every');
      expect(await soon(reading)).toBeNull();
      expect(pauses).toBe(before + 1);
      waitEnds();
      expect((await reading).map(words)).toEqual(['w0', 'silent']);
    });

    it('is asked although it is not used for reads: it may be back', async () => {
      for (let failure = 1; failure < 4; failure += 1) await soon(read());
      ill.reply = null;
      expect(await soon(read())).toEqual(['w0', 'w1']);
    });

    it('gets one read at a time, and the next one after the answer', async () => {
      const answers = ill.holdsBack();
      const first = read();
      await settled();
      // The second read does not ask it.
      expect(await soon(read())).toEqual(['w0', 'silent']);
      expect(ill.questions).toBe(2);
      ill.reply = null;
      answers();
      expect(await soon(first)).toEqual(['w0', 'w1']);
      expect(await soon(read())).toEqual(['w0', 'w1']);
      expect(ill.questions).toBe(3);
    });
  });

  it('sends concurrent reads to an endpoint that does not fail', async () => {
    const [one, other] = [new FakeEndpoint('w0'), new FakeEndpoint('w1')];
    const read = among(one, other);
    other.isHung = true;
    void read();
    void read();
    await settled();
    expect(other.questions).toBe(2);
  });

  it('does not ask an endpoint that asked to wait, until then', async () => {
    const [one, other] = [new FakeEndpoint('w0'), new FakeEndpoint('w1')];
    const read = among(one, other);
    other.reply = TOO_MANY;
    await soon(read());
    other.reply = null;
    clock.advance(4_999);
    expect(await soon(read())).toEqual(['w0', 'silent']);
    clock.advance(1);
    expect(await soon(read())).toEqual(['w0', 'w1']);
  });

  it.each<[Quorum, unknown[]]>([
    ['every', ['w0']],
    ['half', ['w0', 'silent']],
  ])('gets no answer from an endpoint of another chain: quorum %s', async (quorum, answers) => {
    const [one, other] = [new FakeEndpoint('w0'), new FakeEndpoint('w1')];
    other.chainId = CHAIN + 1;
    expect(await soon(among(one, other)(quorum))).toEqual(answers);
    expect(other.questions).toBe(0);
  });
});

async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
}

function words({ replies: [reply] }: EndpointAnswer): unknown {
  if (reply?.kind === 'result') return reply.value;
  return reply?.kind === 'failed' && reply.failure.message === 'the endpoint did not answer' ? 'silent' : 'failed';
}
