import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { Hearing, type EndpointAnswer } from '../../../src/modules/chain/infrastructure/rpc/hearing.js';
import { failed, type RpcReply, type RpcRequest } from '../../../src/modules/chain/infrastructure/rpc/json-rpc.js';
import { PoolMember } from '../../../src/modules/chain/infrastructure/rpc/pool-member.js';
import type { RpcEndpoint } from '../../../src/modules/chain/infrastructure/rpc/rpc-endpoint.js';
import { RpcMetrics } from '../../../src/modules/chain/infrastructure/rpc/rpc-metrics.js';
import type { Witnesses } from '../../../src/modules/chain/domain/evidence.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { RecordingLog } from './chain-fixture.js';

const CHAIN = 7;
const QUESTION: RpcRequest = { method: 'eth_feeHistory', params: [] };

/** Answers the question with its own name, at once unless it is told otherwise. */
class Witness implements RpcEndpoint {
  chainId = CHAIN;
  /** Instead of its name. */
  reply: RpcReply | null = null;
  isHung = false;
  questions = 0;
  private gate: Promise<void> = Promise.resolve();

  constructor(readonly label: string) {}

  async ask(requests: readonly RpcRequest[]): Promise<RpcReply[]> {
    if (requests[0]?.method === 'eth_chainId') return [{ kind: 'result', value: `0x${this.chainId.toString(16)}` }];
    this.questions += 1;
    if (this.isHung) return new Promise(() => undefined);
    await this.gate;
    return requests.map(() => this.reply ?? { kind: 'result', value: this.label });
  }

  /** @returns lets it answer */
  holdsBack(): () => void {
    let open: () => void = () => undefined;
    this.gate = new Promise((resolve) => (open = resolve));
    return open;
  }

  askInOrder(requests: readonly RpcRequest[]): Promise<RpcReply[]> {
    return this.ask(requests);
  }

  async close(): Promise<void> {}
}

const REFUSED = failed({ reason: 'http', mayHaveArrived: true, message: 'HTTP 502' });
const TOO_MANY = failed({ reason: 'rate_limited', mayHaveArrived: true, message: 'HTTP 429', retryAfterMs: 5_000 });

describe('who is heard', () => {
  let clock: FakeClock;
  /** Ends the pauses that wait for the silent. */
  let patienceEnds: () => void;
  let pauses: number;

  beforeEach(() => {
    clock = new FakeClock();
    patienceEnds = () => undefined;
    pauses = 0;
  });

  const among = (...endpoints: readonly Witness[]) => {
    const context = {
      chainId: CHAIN,
      errorPatterns: [],
      maxLag: 5,
      metrics: new RpcMetrics(new Registry()),
      clock,
      log: new RecordingLog(),
    };
    const pause = (): Promise<void> => {
      pauses += 1;
      return new Promise((resolve) => (patienceEnds = resolve));
    };
    const hearing = new Hearing(
      endpoints.map((endpoint) => new PoolMember(endpoint, context)),
      pause,
    );
    return (witnesses: Witnesses = 'speakers') => hearing.hear([QUESTION], witnesses, clock.monotonicMs());
  };

  /** Until whoever answers has answered; what is heard then, or null while somebody is waited for. */
  const soon = async (hearing: Promise<EndpointAnswer[]>): Promise<unknown[] | null> => {
    let heard: unknown[] | null = null;
    void hearing.then((answers) => (heard = answers.map(words)));
    await settled();
    return heard;
  };

  it.each([
    ['first of two', 2, 0],
    ['last of two', 2, 1],
    ['one of three', 3, 1],
  ])(
    'is everybody after half have spoken, and a short wait: a hung one, %s, holds up nothing',
    async (_words, count, hung) => {
      const endpoints = Array.from({ length: count }, (_, i) => new Witness(`w${i}`));
      const slow = endpoints[hung];
      if (slow) slow.isHung = true;
      const hearing = among(...endpoints)();
      expect(await soon(hearing)).toBeNull();
      expect(pauses).toBe(1);
      patienceEnds();
      expect((await hearing).map(words)).toEqual(endpoints.map((each) => (each.isHung ? 'silent' : each.label)));
    },
  );

  it('is waited for without a limit while less than half have spoken', async () => {
    const [one, ...others] = [new Witness('w0'), new Witness('w1'), new Witness('w2')];
    for (const other of others) other.isHung = true;
    expect(await soon(among(one, ...others)())).toBeNull();
    expect(pauses).toBe(0);
  });

  it('is not the half that has spoken when it only failed', async () => {
    const [one, other] = [new Witness('w0'), new Witness('w1')];
    one.reply = REFUSED;
    other.isHung = true;
    expect(await soon(among(one, other)())).toBeNull();
    expect(pauses).toBe(0);
  });

  it('is the half that has spoken also when it says no', async () => {
    const [one, other] = [new Witness('w0'), new Witness('w1')];
    one.reply = { kind: 'error', error: { code: -32000, message: 'missing trie node', data: undefined } };
    other.isHung = true;
    void among(one, other)();
    await settled();
    expect(pauses).toBe(1);
  });

  it('is every one, waited for without a limit, where every one must speak', async () => {
    const [one, other] = [new Witness('w0'), new Witness('w1')];
    other.isHung = true;
    expect(await soon(among(one, other)('every'))).toBeNull();
    expect(pauses).toBe(0);
  });

  describe('after an endpoint failed', () => {
    let well: Witness;
    let ill: Witness;
    let hear: (witnesses?: Witnesses) => Promise<EndpointAnswer[]>;

    beforeEach(async () => {
      [well, ill] = [new Witness('w0'), new Witness('w1')];
      ill.reply = REFUSED;
      hear = among(well, ill);
      expect(await soon(hear())).toEqual(['w0', 'failed']);
    });

    it('is not waited for long, even where every one must speak', async () => {
      ill.isHung = true;
      const before = pauses;
      const hearing = hear('every');
      expect(await soon(hearing)).toBeNull();
      expect(pauses).toBe(before + 1);
      patienceEnds();
      expect((await hearing).map(words)).toEqual(['w0', 'silent']);
    });

    it('is asked also while nobody reads from it: it may be back', async () => {
      for (let failure = 1; failure < 4; failure += 1) await soon(hear());
      ill.reply = null;
      expect(await soon(hear())).toEqual(['w0', 'w1']);
    });

    it('is asked one question at a time, and again when that is answered', async () => {
      const answers = ill.holdsBack();
      const first = hear();
      await settled();
      // What the first question is not told yet, the second is not either: it is not even asked.
      expect(await soon(hear())).toEqual(['w0', 'silent']);
      expect(ill.questions).toBe(2);
      ill.reply = null;
      answers();
      expect(await soon(first)).toEqual(['w0', 'w1']);
      expect(await soon(hear())).toEqual(['w0', 'w1']);
      expect(ill.questions).toBe(3);
    });
  });

  it('is asked side by side as long as it is well', async () => {
    const [one, other] = [new Witness('w0'), new Witness('w1')];
    const hear = among(one, other);
    other.isHung = true;
    void hear();
    void hear();
    await settled();
    expect(other.questions).toBe(2);
  });

  it('is not one that asked to be left alone, until then', async () => {
    const [one, other] = [new Witness('w0'), new Witness('w1')];
    const hear = among(one, other);
    other.reply = TOO_MANY;
    await soon(hear());
    other.reply = null;
    clock.advance(4_999);
    expect(await soon(hear())).toEqual(['w0', 'silent']);
    clock.advance(1);
    expect(await soon(hear())).toEqual(['w0', 'w1']);
  });

  it.each<[Witnesses, unknown[]]>([
    ['every', ['w0']],
    ['speakers', ['w0', 'silent']],
  ])('is nobody on another chain: of %s', async (witnesses, heard) => {
    const [one, other] = [new Witness('w0'), new Witness('w1')];
    other.chainId = CHAIN + 1;
    expect(await soon(among(one, other)(witnesses))).toEqual(heard);
    expect(other.questions).toBe(0);
  });
});

async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
}

function words({ replies: [reply] }: EndpointAnswer): unknown {
  if (reply?.kind === 'result') return reply.value;
  return reply?.kind === 'failed' && reply.failure.message === 'the endpoint stayed silent' ? 'silent' : 'failed';
}
