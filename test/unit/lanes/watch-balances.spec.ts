import { beforeEach, describe, expect, it } from '@jest/globals';
import { sameSigner, signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import type { ChainConnector } from '../../../src/modules/chain/index.js';
import type { EventLog, SignerEvent } from '../../../src/modules/events/index.js';
import { WatchBalances } from '../../../src/modules/lanes/application/watch-balances.js';
import type { MeasureFunds } from '../../../src/modules/sending/index.js';
import type { FundsRepository } from '../../../src/modules/ledger/index.js';
import type { FundsStanding } from '../../../src/modules/ledger/domain/funds.repository.js';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { someFunds } from './funds-fixture.js';
import { ourWork } from '../../support/fakes/our-work.js';

const [A, B, C] = [aSigner(1), aSigner(2), aSigner(3)];
const IDLE: FundsStanding = { isKnown: true, inFlight: 0, hasPending: false, waitsForFunds: false, isLow: false };
const SHORT: FundsStanding = { ...IDLE, hasPending: true, waitsForFunds: true };

let standing: Map<string, FundsStanding>;
let available: bigint;
let isLow: boolean;
let missing: bigint;
let measured: SignerId[];
/** What was made due, written and rung for, in order. */
let steps: unknown[];
let told: SignerEvent[];
/** Marked by another node meanwhile. */
let known: SignerId[];
let writes: RecordedWrites;
let log: RecordingLog;
let metrics: FakeMetrics;
let watch: WatchBalances;

beforeEach(() => {
  [standing, available, isLow, missing, measured] = [new Map(), 5n, false, 0n, []];
  [steps, told, known, metrics, log] = [[], [], [], new FakeMetrics(), new RecordingLog()];
  writes = new RecordedWrites();
  writes.onWrite = ({ fundsArrived }, operation) => void steps.push(operation, ...(fundsArrived ? [fundsArrived] : []));
  const door = {
    execute: (...args: Parameters<RecordedWrites['execute']>) => writes.execute(...args),
    underFence: (leases: never, operation: string, changes: (fence: object) => Promise<object>) =>
      writes.underFence(leases, operation, () => changes({ tx: null })),
  };
  watch = new WatchBalances(
    {
      standing: async (signers: readonly SignerId[]) =>
        signers.map((signer) => standing.get(signerKey(signer)) ?? IDLE),
      markLow: async (_fence: unknown, signers: readonly SignerId[]) =>
        signers.filter((signer) => !known.some((other) => sameSigner(other, signer))),
    } as unknown as FundsRepository,
    {
      execute: async (_chain: unknown, signers: readonly SignerId[]) => {
        measured = [...signers];
        return signers.map((signer) => someFunds({ signer, available, isLow, missing }));
      },
    } as unknown as MeasureFunds,
    ourWork,
    door as never,
    {
      appendOfSigners: async (_tx: unknown, _author: unknown, events: readonly SignerEvent[]) =>
        void told.push(...events),
    } as unknown as EventLog,
    { ring: (signers: unknown) => void steps.push(['ring', signers]) },
    metrics,
    log,
  );
});

/** Whose lanes were woken since the last call. */
function woken(): unknown[] {
  const rung = steps.filter((step) => Array.isArray(step) && step[0] === 'ring');
  steps = [];
  return rung.map((step) => (step as unknown[])[1]);
}

const CHAIN = { chainId: DEV_CHAIN } as ChainConnector;
const look = () => watch.execute(CHAIN, [A, B, C]);

describe('a look at the balances', () => {
  it('asks for those of signers with something in flight or waiting, and of no others', async () => {
    standing.set(signerKey(A), { ...IDLE, inFlight: 1 });
    standing.set(signerKey(C), { ...IDLE, hasPending: true });
    expect(await look()).toEqual([A, C]);
    expect(measured).toEqual([A, C]);
    standing.clear();
    await look();
    expect(measured).toEqual([]);
  });

  it('asks for that of a signer that is low, also when its work has ended since: else nobody tells that it is not any more', async () => {
    standing.set(signerKey(A), { ...IDLE, isLow: true });
    expect(await look()).toEqual([]);
    expect(measured).toEqual([A]);
    expect(told.map(({ signer, reason }) => [signer, reason])).toEqual([[A, 'balance_restored']]);
  });

  it('shows what it measured of each signer that has work, and nothing of one that has none any more and is not low', async () => {
    for (const signer of [A, C]) standing.set(signerKey(signer), { ...IDLE, inFlight: 1 });
    missing = 5n;
    await look();
    standing.delete(signerKey(A));
    await look();
    const labels = `{chain="${DEV_CHAIN}",signer="${C.address}"}`;
    expect(await metrics.lines('signer_balance')).toEqual([
      `signer_balance_wei${labels} 100`,
      `signer_balance_missing_wei${labels} 5`,
    ]);
  });

  it('wakes what waits for funds when more is available than at the last look, and at the first one', async () => {
    standing.set(signerKey(A), SHORT);
    standing.set(signerKey(B), { ...SHORT, waitsForFunds: false });
    const rung: unknown[] = [];
    for (available of [5n, 5n, 6n, 4n, 5n]) {
      await look();
      rung.push(woken());
    }
    expect(rung).toEqual([[[A]], [], [[A]], [], [[A]]]);
  });

  it('forgets what was available of a signer that does not wait any more', async () => {
    standing.set(signerKey(A), SHORT);
    const rung: unknown[] = [];
    for (const waitsForFunds of [true, false, true]) {
      standing.set(signerKey(A), { ...SHORT, waitsForFunds });
      await look();
      rung.push(woken());
    }
    expect(rung).toEqual([[[A]], [], [[A]]]);
  });

  it('reports only a change of low and not low', async () => {
    standing.set(signerKey(A), { ...SHORT, isLow: true });
    standing.set(signerKey(B), SHORT);
    await look();
    isLow = true;
    await look();
    expect(told.map(({ signer, reason }) => [signer, reason])).toEqual([
      [A, 'balance_restored'],
      [B, 'balance_low'],
    ]);
  });

  it('makes due what waited for funds under the leases, and then wakes the lanes', async () => {
    for (const signer of [A, B]) standing.set(signerKey(signer), SHORT);
    await look();
    expect(steps).toEqual(['funds_arrived', [A, B], ['ring', [A, B]]]);
    expect(writes.written).toMatchObject([{ tokens: [1n, 1n] }]);
  });
});

describe('a balance that changed', () => {
  it('has an event and a warning with its amounts, when it is low and when it is enough again', async () => {
    standing.set(signerKey(A), { ...SHORT, waitsForFunds: false });
    [isLow, missing] = [true, 5n];
    await look();
    standing.set(signerKey(A), { ...SHORT, waitsForFunds: false, isLow: true });
    [isLow, missing] = [false, 0n];
    await look();
    const detail = { balance: '100', inFlight: '30', queued: '20', missing: '5' };
    expect(told).toEqual([
      { signer: A, reason: 'balance_low', detail },
      { signer: A, reason: 'balance_restored', detail: { ...detail, missing: '0' } },
    ]);
    expect(log.lines.map(({ event }) => event)).toEqual([
      'balance of a signer is low',
      'balance of a signer is enough again',
    ]);
  });

  it('is told once, whoever told it', async () => {
    for (const signer of [A, C]) standing.set(signerKey(signer), { ...SHORT, waitsForFunds: false });
    [known, isLow] = [[A], true];
    await look();
    expect(told.map(({ signer }) => signer)).toEqual([C]);
    expect(log.lines).toHaveLength(1);
  });
});
