import { beforeEach, describe, expect, it } from '@jest/globals';
import { ExecutionConfig } from '../../../src/config/index.js';
import { signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import type { ChainConnector } from '../../../src/modules/chain/index.js';
import { LaneRooms } from '../../../src/modules/lanes/application/lane-rooms.js';
import { type PreparedTxs, PreparePending } from '../../../src/modules/lanes/application/prepare-pending.js';
import type { SimulatePending } from '../../../src/modules/lanes/application/simulate-pending.js';
import {
  type InFlightLimits,
  LaneMemory,
  type ManagedTx,
  type PendingTx,
  type TxQueue,
} from '../../../src/modules/ledger/index.js';
import { NonceLedger } from '../../../src/modules/signers/index.js';
import type { PendingVerdict } from '../../../src/modules/lanes/application/cover-costs.js';
import { aManagedTx, aRequest, aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { KeysOf } from '../../support/fakes/fake-node.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { type SignerRoom, olderBy } from '../../../src/modules/ledger/domain/tx-queue.js';
import { inFlightLimits } from '../../support/in-flight-limits.js';

const [A, B] = [aSigner(1), aSigner(2)];
const LEASES = [A, B].map((signer, index) => ({ signer, owner: 'node', token: BigInt(index + 1) }));
const BATCH = 2;
const MAX_IN_FLIGHT = 4;
/** Of a look at what waits: a look that costs time is not begun at the start again at once. */
const LOOK_MS = 10;
/** Of a tx that is committed late, before one with a later id. */
const LATE_COMMIT_MS = 10_000;
const [FIRST, LAST] = ['019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b', '019aa2f5-7a1c-7c3e-9a52-3f4d5e6f7a8b'];
const READY: PendingVerdict = { kind: 'ready', gasLimit: 22_000n, cost: 1n };
const NOT_NOW: PendingVerdict = { kind: 'not_now', apply: (tx) => tx.failed('reverts') };

let waiting: PendingTx[];
let verdicts: PendingVerdict[];
/** Of stopped accounts, and not in the page. */
let alsoStopped: ManagedTx[];
/** What is in flight by signer key; 0 for the others. Null when nothing is told. */
let inFlight: Map<string, number> | null;
let counted: SignerId[];
let rooms: readonly SignerRoom[];
let clock: FakeClock;
let memory: LaneMemory;
let limits: InFlightLimits;
let writes: RecordedWrites;
let log: RecordingLog;
let prepare: PreparePending;

beforeEach(() => {
  [waiting, verdicts, alsoStopped] = [[], [], []];
  [inFlight, counted, rooms] = [new Map(), [], []];
  clock = new FakeClock();
  memory = new LaneMemory(clock);
  const config = Object.assign(new ExecutionConfig(), { maxInFlight: MAX_IN_FLIGHT, batchSize: BATCH });
  limits = inFlightLimits(config);
  [writes, log] = [new RecordedWrites(), new RecordingLog()];
  const queue = {
    countInFlight: async (signers: readonly SignerId[]) => {
      counted.push(...signers);
      return inFlight === null ? [] : signers.map((signer) => inFlight?.get(signerKey(signer)) ?? 0);
    },
    nextPending: async (asked: readonly SignerRoom[]) => {
      rooms = asked;
      clock.advance(LOOK_MS);
      return waiting;
    },
    lockStopped: async (_fence: unknown, txs: readonly ManagedTx[]) => [...txs, ...alsoStopped],
  } as unknown as TxQueue;
  const ledger = fakeOf(NonceLedger, { gaps: async () => [] });
  prepare = new PreparePending(
    {
      execute: async (_chain: unknown, some: readonly unknown[]) => some.map((_, i) => verdicts[i]),
    } as unknown as SimulatePending,
    queue,
    writes.asDoor(),
    memory,
    new LaneRooms(queue, memory, limits, config, new KeysOf([]), ledger),
    config,
    clock,
    log,
  );
});

const pending = (txId: string, signer = A, overrides: Partial<PendingTx> = {}): PendingTx => ({
  tx: aManagedTx({ txId, signer }).build(),
  request: aRequest({ signer, priority: 3 }),
  expired: false,
  wasTried: false,
  isStopped: false,
  lacksPermit: false,
  ...overrides,
});

const roomsOf = (): [SignerId, number][] => rooms.map(({ signer, room }) => [signer, room]);
const afterOf = (of: SignerId): unknown => rooms.find(({ signer }) => signer === of)?.after;
const prepared = (): Promise<PreparedTxs> => prepare.execute({} as ChainConnector, LEASES);

describe('what waits', () => {
  it('is ready with its gas, each with its own verdict', async () => {
    waiting = [pending('a'), pending('b', B)];
    verdicts = [NOT_NOW, READY];
    const [first, second] = waiting;
    expect((await prepared()).ready).toEqual([{ tx: second?.tx, request: second?.request, gasLimit: 22_000n }]);
    expect(writes.txs).toMatchObject([{ id: 'a', state: 'FAILED' }]);
    expect(writes.written).toMatchObject([{ operation: 'end_pending', tokens: [1n] }]);
    expect(first?.tx.state).toBe('PENDING');
  });

  it('writes nothing while all of it is ready', async () => {
    [waiting, verdicts] = [[pending('a')], [READY]];
    await prepared();
    expect(writes.written).toEqual([]);
  });

  it('stays in the queue unchanged when it is parked, and is read again', async () => {
    waiting = [pending('a'), pending('b', B), pending('c', B)];
    verdicts = [READY, { kind: 'parked' }, { kind: 'parked' }];
    expect((await prepared()).ready).toHaveLength(1);
    expect(writes.written).toEqual([]);
    await prepared();
    expect(afterOf(A)).not.toBeNull();
    expect(afterOf(B)).toBeNull();
  });

  it('is left alone when it does not wait any more', async () => {
    waiting = [pending('a'), pending('b')];
    verdicts = [NOT_NOW, NOT_NOW];
    writes.canLock = (txId) => txId === 'b';
    await prepared();
    expect(writes.txs.map(({ id }) => id)).toEqual(['b']);
  });
});

describe('what waits of a stopped account', () => {
  it('is set aside with all that is found beside it, and not simulated', async () => {
    waiting = [pending('a', A, { isStopped: true }), pending('b', B)];
    [verdicts, alsoStopped] = [[READY], [aManagedTx({ txId: 'c', signer: A }).build()]];
    const { ready, cleared } = await prepared();
    expect([ready.map(({ tx }) => tx.id), cleared]).toEqual([['b'], [A]]);
    expect(writes.txs.map(({ id, progress }) => [id, progress.state, progress.subState])).toEqual([
      ['a', 'PENDING', 'ACCOUNT_STOPPED'],
      ['c', 'PENDING', 'ACCOUNT_STOPPED'],
    ]);
    expect(writes.written).toMatchObject([{ operation: 'set_aside', tokens: [1n] }]);
  });

  it.each([
    [0, 600_000],
    [1, 1_200_000],
    [30, 3_600_000],
  ])('is looked at again, after %i times, within %i ms', async (tries, longestMs) => {
    const tx = aManagedTx({ txId: 'a', signer: A, subState: 'ACCOUNT_STOPPED', tries }).build();
    waiting = [pending('a', A, { tx, isStopped: true })];
    await prepared();
    const timer = writes.txs[0]?.timers.resubmit;
    const part = typeof timer === 'object' ? timer.inMs / longestMs : 0;
    expect([part > 0.7, part <= 1]).toEqual([true, true]);
  });

  it('asks for no other look when nothing was in the way', async () => {
    [waiting, verdicts] = [[pending('a')], [READY]];
    expect((await prepared()).cleared).toEqual([]);
  });
});

describe('more may wait', () => {
  it('behind a full batch of ready txs of a signer, and not behind less', async () => {
    waiting = [pending('a'), pending('b', B), pending('c')];
    verdicts = [READY, READY, READY];
    expect((await prepared()).full).toEqual([A]);
  });

  it('not behind a batch of which one is not ready', async () => {
    waiting = [pending('a'), pending('b')];
    verdicts = [READY, NOT_NOW];
    expect((await prepared()).full).toEqual([]);
  });
});

it('a tx that no one can explain is set aside for a minute with an error in the log, and keeps its place in the queue', async () => {
  const [tx, request] = [pending('a').tx, aRequest()];
  const error = new Error('cannot be written');
  await prepare.quarantine(LEASES, { tx, request, gasLimit: 1n }, error);
  const [saved] = writes.txs;
  expect(saved).toMatchObject({ id: 'a', state: 'PENDING', timers: { resubmit: { inMs: 60_000 } } });
  expect(saved?.progress).toMatchObject({ subState: null, lastError: 'cannot be written' });
  expect(log.lines).toEqual([{ event: 'transaction set aside', fields: { txId: 'a', error } }]);
});

describe('a lane reads', () => {
  it('what waits, in the order of the queue', async () => {
    waiting = [pending(FIRST), pending(LAST)];
    verdicts = [READY, READY];
    expect((await prepared()).ready.map(({ tx }) => tx.id)).toEqual([FIRST, LAST]);
  });

  it('a batch, or what it has room for below maxInFlight, and nothing where it has none', async () => {
    inFlight = new Map([[signerKey(A), MAX_IN_FLIGHT - 1]]);
    await prepared();
    expect(roomsOf()).toEqual([
      [A, 1],
      [B, BATCH],
    ]);
    inFlight = new Map([[signerKey(A), MAX_IN_FLIGHT]]);
    memory.forgetAll();
    await prepared();
    expect(roomsOf()).toEqual([[B, BATCH]]);
  });

  it('no more than a pool takes of a signer', async () => {
    inFlight = new Map([[signerKey(A), 2]]);
    limits.refused(A, 3);
    await prepared();
    expect(roomsOf()).toEqual([
      [A, 1],
      [B, BATCH],
    ]);
  });

  it('what is in flight only where a whole batch may not fit', async () => {
    await prepared();
    expect(counted).toEqual([A, B]);
    clock.advance(60_000);
    await prepared();
    expect(counted).toEqual([A, B]);
    memory.noncesAllocated(new Array(3).fill(A));
    await prepared();
    expect(counted).toEqual([A, B, A]);
  });

  it('what is in flight once a second at most, however short the room is', async () => {
    inFlight = new Map([[signerKey(A), MAX_IN_FLIGHT]]);
    await prepared();
    clock.advance(999 - LOOK_MS);
    await prepared();
    expect(counted).toEqual([A, B]);
    clock.advance(1);
    await prepared();
    expect(counted).toEqual([A, B, A]);
  });

  it('nothing when it is not known what is in flight', async () => {
    inFlight = null;
    await prepared();
    expect(rooms).toEqual([]);
  });

  it('on behind the last that it read and that was not tried before', async () => {
    waiting = [pending(FIRST), pending(LAST), pending('c', A, { wasTried: true })];
    clock.advance(60_000);
    await prepared();
    await prepared();
    expect(rooms.map(({ after }) => after)).toEqual([olderBy(LATE_COMMIT_MS, { priority: 3, txId: LAST }), null]);
  });

  it.each([
    ['behind the last one before', 100 * LOOK_MS - 1, false],
    ['from the start again after', 100 * LOOK_MS, true],
  ])('%s a pause of a hundred times what the look cost', async (_where, pauseMs, isFromStart) => {
    waiting = [pending(LAST)];
    await prepared();
    clock.advance(pauseMs);
    await prepared();
    expect(rooms[0]?.after === null).toBe(isFromStart);
  });
});
