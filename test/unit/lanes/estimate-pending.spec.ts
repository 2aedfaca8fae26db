import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Call, GasEstimate } from '../../../src/modules/chain/index.js';
import { EstimatePending } from '../../../src/modules/lanes/application/estimate-pending.js';
import type { RevertedEstimates } from '../../../src/modules/lanes/application/reverted-estimates.js';
import type { TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { parseHex } from '../../../src/kernel/hex.js';
import { aManagedTx, anAddress, aRequest, aSigner } from '../../support/builders.js';
import { aMadePermit, aPermit } from '../../support/permit-builders.js';
import type { Pause } from '../../../src/platform/scheduling/pause.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { ModelChain } from '../../support/model-chain.js';
import { type PendingTx } from '../../../src/modules/ledger/domain/tx-queue.js';

const POISON = parseHex('0xbad0');
const GOOD = parseHex('0x600d');
const OK: GasEstimate = { kind: 'ok', gas: 21_000n };

let chain: ModelChain;
let clock: FakeClock;
let estimates: EstimatePending;
/** Whose estimates could prove something, of each question. */
let proving: string[][];
/** Data of the calls of each question. */
let asked: string[][];
let answer: (calls: readonly Call[]) => Promise<GasEstimate[]>;

beforeEach(() => {
  [chain, clock, asked] = [new ModelChain(), new FakeClock(), []];
  proving = [];
  const proven = async (_chain: unknown, _pending: unknown, gasOf: ReadonlyMap<string, unknown>) => (
    proving.push([...gasOf.keys()]),
    new Set<string>()
  );
  const reverted = { proven } as unknown as RevertedEstimates;
  estimates = new EstimatePending(reverted, clock, { pause });
  chain.estimateGas = (calls) => (asked.push(calls.map(({ data }) => data)), answer(calls));
});

/** Lets time pass when nothing else happens. */
const pause: Pause = async (ms, signal) => {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  signal?.throwIfAborted();
  clock.advance(ms);
};

let made = 0;
function pending(data: string, progress: Partial<TxProgress> = {}): PendingTx {
  const base = aRequest();
  const txId = `00000000-0000-7000-8000-${String((made += 1)).padStart(12, '0')}`;
  const request = aRequest({ payload: { ...base.payload, data: parseHex(data) } });
  return {
    tx: aManagedTx({ txId, ...progress }).build(),
    request,
    expired: false,
    wasTried: false,
    isStopped: false,
    lacksPermit: false,
  };
}

const hangsWithPoison = (calls: readonly Call[]): Promise<GasEstimate[]> =>
  calls.some(({ data }) => data === POISON) ? new Promise(() => undefined) : Promise.resolve(calls.map(() => OK));
const look = async (...items: PendingTx[]) => [...(await estimates.execute(chain, items, items)).keys()];

describe('an estimate that hangs', () => {
  it('is asked alone and once, and nobody’s step waits for it again', async () => {
    answer = hangsWithPoison;
    const poison = pending(POISON, { subState: 'NODE_UNAVAILABLE', tries: 1 });
    const good = [pending(GOOD), pending(GOOD, { signer: aSigner(2) })];
    const startedAt = clock.monotonicMs();
    expect(await look(poison, ...good)).toEqual(good.map(({ tx }) => tx.id));
    expect(asked).toEqual([[POISON], [GOOD, GOOD]]);
    expect(clock.monotonicMs() - startedAt).toBe(250);
    asked = [];
    expect(await look(poison, ...good)).toEqual(good.map(({ tx }) => tx.id));
    expect(asked).toEqual([[GOOD, GOOD]]);
  });

  it('holds a step that it shares for the first time for a bounded time, and its answer is kept', async () => {
    let release: (gas: GasEstimate[]) => void = () => undefined;
    answer = () => new Promise((resolve) => (release = resolve));
    const items = [pending(GOOD), pending(GOOD)];
    expect(await look(...items)).toEqual([]);
    release([OK, OK]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await look(...items)).toEqual(items.map(({ tx }) => tx.id));
    expect(asked).toHaveLength(1);
  });

  it('leaves room: of one signer two are asked at once', async () => {
    answer = hangsWithPoison;
    const suspects = Array.from({ length: 50 }, () => pending(POISON, { subState: 'NODE_UNAVAILABLE', tries: 1 }));
    expect(await look(...suspects)).toEqual([]);
    expect(await look(...suspects)).toEqual([]);
    expect(asked).toEqual([[POISON], [POISON]]);
  });

  it('leaves room to other signers: of all of a chain eight are asked at once, and the next ones when those have ended', async () => {
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    answer = (calls) => ended.then(() => calls.map(() => OK));
    const suspects = Array.from({ length: 30 }, (_, n) =>
      pending(POISON, { signer: aSigner(n + 1), subState: 'NODE_UNAVAILABLE', tries: 1 }),
    );
    expect(await look(...suspects)).toEqual([]);
    expect(asked).toHaveLength(8);
    end();
    await new Promise((resolve) => setImmediate(resolve));
    expect(await look(...suspects)).toHaveLength(30);
    expect(asked).toHaveLength(30);
  });
});

describe('an ask that several signers share, and that is late', () => {
  const [one, other] = [() => pending(POISON), () => pending(GOOD, { signer: aSigner(2) })];

  it('is not waited for by the others again: each signer is asked by itself, also about what was in it', async () => {
    answer = hangsWithPoison;
    const good = other();
    expect(await look(one(), good)).toEqual([]);
    asked = [];
    expect(await look(one(), good)).toEqual([good.tx.id]);
    expect(asked).toEqual([[POISON], [GOOD]]);
  });

  it('leaves room: of one signer new payloads wait for the answer about those before', async () => {
    answer = hangsWithPoison;
    await look(one(), other());
    await look(one(), other());
    asked = [];
    await look(one(), one(), other());
    expect(asked).toEqual([[GOOD]]);
  });
});

describe('after silence about a new payload of a signer', () => {
  it('its payloads share no batch with those of others for a minute', async () => {
    answer = async (calls) => calls.map(({ data }) => (data === POISON ? { kind: 'silent', message: 'no' } : OK));
    const [one, other] = [() => pending(GOOD), () => pending(GOOD, { signer: aSigner(2) })];
    await look(pending(POISON), other());
    asked = [];
    await look(one(), other());
    expect(asked).toEqual([[GOOD], [GOOD]]);
    clock.advance(60_000);
    asked = [];
    await look(one(), other());
    expect(asked).toEqual([[GOOD, GOOD]]);
  });
});

it('passes on why a question failed, and asks again', async () => {
  answer = () => Promise.reject(new Error('no chain'));
  const item = pending(GOOD);
  await expect(look(item)).rejects.toThrow('no chain');
  answer = hangsWithPoison;
  expect(await look(item)).toEqual([item.tx.id]);
});

it('forgets an answer that nobody asked for in time', async () => {
  let release: (gas: GasEstimate[]) => void = () => undefined;
  answer = () => new Promise((resolve) => (release = resolve));
  const item = pending(GOOD, { subState: 'NODE_UNAVAILABLE', tries: 3 });
  await look(item);
  release([OK]);
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(120_001);
  await look(item);
  expect(asked).toHaveLength(2);
});

describe('a payload with a permit', () => {
  const [owner, contract] = [anAddress(2), anAddress(0x70)];
  const permit = aPermit({ owner, contract, made: aMadePermit({ permitNonce: 7n }) });
  const permitting = (): PendingTx => {
    const item = pending(GOOD);
    return { ...item, request: { ...item.request, payload: { ...item.request.payload, permits: [permit] } } };
  };

  it.each<[bigint | null, string]>([
    [7n, 'right'],
    [8n, 'stale'],
    [6n, 'stale'],
    [null, 'unknown'],
  ])('is estimated together with a look at the nonce of its contract, which is %p: %s', async (next, expected) => {
    answer = async (calls) => calls.map(() => ({ kind: 'reverted', reason: 'no' }));
    if (next !== null) chain.permitNonceOf.set(`${contract} ${owner}`, next);
    const [item, plain] = [permitting(), pending(GOOD)];
    const looks = await estimates.execute(chain, [item, plain], [item, plain]);
    expect(looks.get(item.tx.id)?.permits).toBe(expected);
    expect(looks.get(plain.tx.id)?.permits).toBe('right');
    // What reverts with a wrong permit proves nothing.
    expect(proving.at(-1)).toEqual(expected === 'right' ? [item.tx.id, plain.tx.id] : [plain.tx.id]);
  });

  it.each([
    [7n, true],
    [8n, false],
    [null, false],
  ])('proves something by its revert only where the endpoints agree on that nonce: %p', async (agreed, proves) => {
    answer = async (calls) => calls.map(() => ({ kind: 'reverted', reason: 'no' }));
    chain.permitNonces = async (all) => all.map(() => 7n);
    chain.agreedPermitNonces = async (all) =>
      all.map(() => (agreed === null ? null : { value: agreed, isAlone: true }));
    const item = permitting();
    const looks = await estimates.execute(chain, [item], [item]);
    expect([looks.get(item.tx.id)?.permits, proving.at(-1)]).toEqual(['right', proves ? [item.tx.id] : []]);
  });

  it.each<[number, bigint | null, string, number]>([
    [4_000, 8n, 'right', 1],
    [6_000, 7n, 'right', 2],
    [6_000, 8n, 'stale', 2],
    [6_000, null, 'unknown', 2],
  ])(
    'whose estimate came %p ms after its question has the nonce looked at again, if that is long: %p is %s',
    async (ms, later, expected, questions) => {
      let release: (gas: GasEstimate[]) => void = () => undefined;
      answer = () => new Promise((resolve) => (release = resolve));
      const asked: unknown[] = [];
      chain.permitNonces = async (all) => (asked.push(all), all.map(() => (asked.length === 1 ? 7n : later)));
      const item = permitting();
      expect(await look(item)).toEqual([]);
      clock.advance(ms - 2_250);
      release([OK]);
      await new Promise((resolve) => setImmediate(resolve));
      const looks = await estimates.execute(chain, [item], [item]);
      expect([looks.get(item.tx.id)?.permits, asked.length]).toEqual([expected, questions]);
    },
  );

  it('is the only one whose contract is asked', async () => {
    answer = async (calls) => calls.map(() => OK);
    let questions = 0;
    chain.permitNonces = async (all) => ((questions += 1), all.map(() => 7n));
    await look(pending(GOOD));
    expect(questions).toBe(0);
    await look(permitting());
    expect(questions).toBe(1);
  });
});
