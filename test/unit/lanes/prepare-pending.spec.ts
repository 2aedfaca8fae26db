import { beforeEach, describe, expect, it } from '@jest/globals';
import { ExecutionConfig } from '../../../src/config/index.js';
import { signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import type { ChainConnector } from '../../../src/modules/chain/index.js';
import type { SimulatePending, PendingVerdict } from '../../../src/modules/lanes/application/simulate-pending.js';
import { LaneMemory } from '../../../src/modules/transactions/application/writing/lane-memory.js';
import { PreparePending, type ReadyTx } from '../../../src/modules/lanes/application/prepare-pending.js';
import type { TxMetrics } from '../../../src/modules/transactions/application/writing/tx-metrics.js';
import type { ManagedTx } from '../../../src/modules/transactions/domain/managed-tx.js';
import type { PendingTx, SignerRoom } from '../../../src/modules/transactions/domain/managed-tx.repository.js';
import { olderBy } from '../../../src/modules/transactions/domain/queue-position.js';
import type { ManagedTxRepository } from '../../../src/modules/transactions/index.js';
import { aManagedTx, aRequest, aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { UnfencedWork } from '../../support/fakes/unfenced-work.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const [A, B] = [aSigner(1), aSigner(2)];
const LEASES = [A, B].map((signer, index) => ({ signer, owner: 'node', token: BigInt(index + 1) }));
const BATCH = 10;
const MAX_IN_FLIGHT = 12;
/** Of a look at what waits: a look that costs time is not begun at the start again at once. */
const LOOK_MS = 10;
/** Of a tx that is committed late, before one with a later id. */
const LATE_COMMIT_MS = 10_000;
const [FIRST, LAST] = ['019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b', '019aa2f5-7a1c-7c3e-9a52-3f4d5e6f7a8b'];
const NOT_NOW: PendingVerdict = { kind: 'not_now', apply: (tx) => tx.failed('reverts') };

let waiting: PendingTx[];
let verdicts: PendingVerdict[];
let inFlight: Map<string, number>;
/** Ids of what still waits when it is to be written. */
let locked: Set<string>;
let counted: SignerId[];
let rooms: readonly SignerRoom[];
let saved: ManagedTx[];
let entered: ManagedTx[];
let work: UnfencedWork;
let clock: FakeClock;
let memory: LaneMemory;
let prepare: PreparePending;

beforeEach(() => {
  [waiting, verdicts, inFlight, locked] = [[], [], new Map(), new Set(['a', 'b'])];
  [counted, rooms, saved, entered] = [[], [], [], []];
  work = new UnfencedWork();
  clock = new FakeClock();
  memory = new LaneMemory(clock);
  prepare = new PreparePending(
    {
      countInFlight: async (signers: readonly SignerId[]) => {
        counted.push(...signers);
        return signers.map((signer) => inFlight.get(signerKey(signer)) ?? 0);
      },
      nextPending: async (asked: readonly SignerRoom[]) => {
        rooms = asked;
        clock.advance(LOOK_MS);
        return waiting;
      },
      lockPending: async (_fence: unknown, ids: readonly string[]) => new Set(ids.filter((id) => locked.has(id))),
      save: async (_fence: unknown, txs: readonly ManagedTx[]) => void saved.push(...txs),
    } as unknown as ManagedTxRepository,
    { execute: async () => verdicts } as unknown as SimulatePending,
    work,
    Object.assign(new ExecutionConfig(), { maxInFlight: MAX_IN_FLIGHT, batchSize: BATCH }),
    memory,
    clock,
    { entered: (txs: readonly ManagedTx[]) => void entered.push(...txs) } as unknown as TxMetrics,
    new RecordingLog(),
  );
});

const pending = (txId: string, signer = A, overrides: Partial<PendingTx> = {}): PendingTx => ({
  tx: aManagedTx({ txId, signer }).build(),
  request: aRequest({ signer, priority: 3 }),
  expired: false,
  wasTried: false,
  ...overrides,
});

const prepared = (): Promise<ReadyTx[]> => prepare.execute({} as ChainConnector, LEASES);
const roomsOf = (): [SignerId, number][] => rooms.map(({ signer, room }) => [signer, room]);

describe('a lane reads', () => {
  it('a batch, or what it has room for below maxInFlight, and nothing where it has none', async () => {
    inFlight.set(signerKey(A), MAX_IN_FLIGHT - 3);
    await prepared();
    expect(roomsOf()).toEqual([
      [A, 3],
      [B, BATCH],
    ]);
    inFlight.set(signerKey(A), MAX_IN_FLIGHT);
    memory.forgetAll();
    await prepared();
    expect(roomsOf()).toEqual([[B, BATCH]]);
  });

  it('what is in flight only where a whole batch may not fit', async () => {
    await prepared();
    expect(counted).toEqual([A, B]);
    clock.advance(60_000);
    await prepared();
    expect(counted).toEqual([A, B]);
    memory.tookNonces(new Array(3).fill(A));
    await prepared();
    expect(counted).toEqual([A, B, A]);
  });

  it('on behind the last that it read and that was not tried before', async () => {
    waiting = [pending(FIRST), pending(LAST), pending('c', A, { wasTried: true })];
    verdicts = waiting.map(() => ({ kind: 'ready', gasLimit: 1n, cost: 1n }));
    clock.advance(60_000);
    await prepared();
    await prepared();
    expect(rooms.map(({ after }) => after)).toEqual([olderBy(LATE_COMMIT_MS, { priority: 3, txId: LAST }), null]);
    clock.advance(100 * LOOK_MS);
    await prepared();
    expect(rooms.map(({ after }) => after)).toEqual([null, null]);
  });
});

describe('what waits', () => {
  it('is ready with its gas, each with its own verdict', async () => {
    waiting = [pending('a'), pending('b', B)];
    verdicts = [NOT_NOW, { kind: 'ready', gasLimit: 22_000n, cost: 1n }];
    const [, second] = waiting;
    expect(await prepared()).toEqual([{ tx: second?.tx, request: second?.request, gasLimit: 22_000n }]);
    expect(saved).toMatchObject([{ id: 'a', state: 'FAILED' }]);
    expect([work.tokens, entered]).toEqual([[[1n]], saved]);
    expect(waiting[0]?.tx.state).toBe('PENDING');
  });

  it('writes nothing while all of it is ready', async () => {
    waiting = [pending('a')];
    verdicts = [{ kind: 'ready', gasLimit: 1n, cost: 1n }];
    await prepared();
    expect(work.tokens).toEqual([]);
  });

  it('is left alone when it does not wait any more', async () => {
    waiting = [pending('a'), pending('b')];
    verdicts = [NOT_NOW, NOT_NOW];
    locked.delete('a');
    await prepared();
    expect(saved.map(({ id }) => id)).toEqual(['b']);
  });
});

it('a tx that no one can explain is set aside for a minute, and keeps its place in the queue', async () => {
  const [tx, request] = [pending('a').tx, aRequest()];
  await prepare.quarantine(LEASES, { tx, request, gasLimit: 1n }, new Error('cannot be written'));
  expect(saved).toMatchObject([{ id: 'a', state: 'PENDING', timers: { resubmit: { inMs: 60_000 } } }]);
  expect(saved[0]?.progress).toMatchObject({ subState: null, lastError: 'cannot be written' });
});
