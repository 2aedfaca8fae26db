import { beforeEach, describe, expect, it } from '@jest/globals';
import { ExecutionConfig } from '../../../src/config/index.js';
import { signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import { NextPending } from '../../../src/modules/lanes/application/next-pending.js';
import {
  InFlightLimits,
  LaneMemory,
  type ManagedTxRepository,
  type PendingTx,
  type SignerRoom,
} from '../../../src/modules/transactions/index.js';
import { olderBy } from '../../../src/modules/transactions/domain/queue-position.js';
import { aManagedTx, aRequest, aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';

const [A, B] = [aSigner(1), aSigner(2)];
const LEASES = [A, B].map((signer, index) => ({ signer, owner: 'node', token: BigInt(index + 1) }));
const BATCH = 10;
const MAX_IN_FLIGHT = 12;
/** Of a look at what waits: a look that costs time is not begun at the start again at once. */
const LOOK_MS = 10;
/** Of a tx that is committed late, before one with a later id. */
const LATE_COMMIT_MS = 10_000;
const [FIRST, LAST] = ['019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b', '019aa2f5-7a1c-7c3e-9a52-3f4d5e6f7a8b'];

let waiting: PendingTx[];
/** By signer key; 0 for the others. Null when nothing is told. */
let inFlight: Map<string, number> | null;
let counted: SignerId[];
let rooms: readonly SignerRoom[];
let clock: FakeClock;
let memory: LaneMemory;
let limits: InFlightLimits;
let next: NextPending;

beforeEach(() => {
  [waiting, inFlight, counted, rooms] = [[], new Map(), [], []];
  clock = new FakeClock();
  memory = new LaneMemory(clock);
  const config = Object.assign(new ExecutionConfig(), { maxInFlight: MAX_IN_FLIGHT, batchSize: BATCH });
  limits = new InFlightLimits(config);
  next = new NextPending(
    {
      countInFlight: async (signers: readonly SignerId[]) => {
        counted.push(...signers);
        return inFlight === null ? [] : signers.map((signer) => inFlight?.get(signerKey(signer)) ?? 0);
      },
      nextPending: async (asked: readonly SignerRoom[]) => {
        rooms = asked;
        clock.advance(LOOK_MS);
        return waiting;
      },
    } as unknown as ManagedTxRepository,
    config,
    memory,
    limits,
    clock,
  );
});

const pending = (txId: string, overrides: Partial<PendingTx> = {}): PendingTx => ({
  tx: aManagedTx({ txId, signer: A }).build(),
  request: aRequest({ signer: A, priority: 3 }),
  expired: false,
  wasTried: false,
  ...overrides,
});

const look = (): Promise<PendingTx[]> => next.execute(LEASES);
const roomsOf = (): [SignerId, number][] => rooms.map(({ signer, room }) => [signer, room]);

describe('a lane reads', () => {
  it('what waits, in the order of the queue', async () => {
    waiting = [pending(FIRST), pending(LAST)];
    expect(await look()).toEqual(waiting);
  });

  it('a batch, or what it has room for below maxInFlight, and nothing where it has none', async () => {
    inFlight = new Map([[signerKey(A), MAX_IN_FLIGHT - 3]]);
    await look();
    expect(roomsOf()).toEqual([
      [A, 3],
      [B, BATCH],
    ]);
    inFlight = new Map([[signerKey(A), MAX_IN_FLIGHT]]);
    memory.forgetAll();
    await look();
    expect(roomsOf()).toEqual([[B, BATCH]]);
  });

  it('no more than a pool takes of a signer', async () => {
    inFlight = new Map([[signerKey(A), 2]]);
    limits.refused(A, 5);
    await look();
    expect(roomsOf()).toEqual([
      [A, 3],
      [B, BATCH],
    ]);
  });

  it('what is in flight only where a whole batch may not fit', async () => {
    await look();
    expect(counted).toEqual([A, B]);
    clock.advance(60_000);
    await look();
    expect(counted).toEqual([A, B]);
    memory.noncesAllocated(new Array(3).fill(A));
    await look();
    expect(counted).toEqual([A, B, A]);
  });

  it('what is in flight once a second at most, however short the room is', async () => {
    inFlight = new Map([[signerKey(A), MAX_IN_FLIGHT]]);
    await look();
    clock.advance(999 - LOOK_MS);
    await look();
    expect(counted).toEqual([A, B]);
    clock.advance(1);
    await look();
    expect(counted).toEqual([A, B, A]);
  });

  it('nothing when it is not known what is in flight', async () => {
    inFlight = null;
    await look();
    expect(rooms).toEqual([]);
  });

  it('on behind the last that it read and that was not tried before', async () => {
    waiting = [pending(FIRST), pending(LAST), pending('c', { wasTried: true })];
    clock.advance(60_000);
    await look();
    await look();
    expect(rooms.map(({ after }) => after)).toEqual([olderBy(LATE_COMMIT_MS, { priority: 3, txId: LAST }), null]);
  });

  it.each([
    ['behind the last one before', 100 * LOOK_MS - 1, false],
    ['from the start again after', 100 * LOOK_MS, true],
  ])('%s a pause of a hundred times what the look cost', async (_where, pauseMs, isFromStart) => {
    waiting = [pending(LAST)];
    await look();
    clock.advance(pauseMs);
    await look();
    expect(rooms[0]?.after === null).toBe(isFromStart);
  });
});
