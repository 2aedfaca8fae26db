import { noneBehind } from '../../support/fakes/even-books.js';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { IN_FLIGHT_START } from '../../../src/config/index.js';
import type { ChainConnector } from '../../../src/modules/chain/index.js';
import type { LookForDelegations } from '../../../src/modules/lanes/application/look-for-delegations.js';
import { type RecoverLane, ResumeLanes } from '../../../src/modules/lanes/application/resume-lanes.js';
import type { ResendAttempts } from '../../../src/modules/lanes/application/resend-attempts.js';
import type { AdmitLanes } from '../../../src/modules/lost-commits/index.js';
import { sameSigner, type SignerId } from '../../../src/kernel/signer-id.js';
import type { Lease } from '../../../src/modules/signers/index.js';
import {
  type InFlightLimits,
  LaneMemory,
  type ManagedTx,
  type TxsInFlight,
} from '../../../src/modules/ledger/index.js';
import type { NodeErrorClass } from '../../../src/kernel/node-error-class.js';
import type { TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import type { UnminedTx } from '../../../src/modules/ledger/domain/txs-in-flight.js';
import type { SignerRoom } from '../../../src/modules/ledger/domain/tx-queue.js';
import { aManagedTx, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { inFlightLimits } from '../../support/in-flight-limits.js';

const LEASE: Lease = { signer: aSigner(), owner: 'node', token: 1n };
const OTHER: Lease = { signer: aSigner(2), owner: 'node', token: 2n };
const LIMIT = 5;
const START = IN_FLIGHT_START;
const CHAIN = { chainId: DEV_CHAIN } as ChainConnector;

let recovery: () => void;
let calls: unknown[][];
let memory: LaneMemory;
let looked: SignerId[][];
let limits: InFlightLimits;
let clock: FakeClock;
/** Those of which it is known what is out. */
let admitted: Lease[];
let waiting: ManagedTx[];
/** In flight below the lowest that waits for room in a pool. */
let below: number;
let reads: SignerRoom[];
/** Of the signer, by nonce. */
let unmined: UnminedTx[];
let resent: ManagedTx[];
let onResend: () => void;
let renewed: ManagedTx[];
let resume: ResumeLanes;

beforeEach(() => {
  [recovery, calls, memory] = [() => undefined, [], new LaneMemory(new FakeClock())];
  clock = new FakeClock();
  [looked, limits] = [[], inFlightLimits({}, clock)];
  admitted = [LEASE, OTHER];
  onResend = () => undefined;
  [waiting, below, reads, unmined, resent, renewed] = [[], 3, [], [], [], []];
  resume = new ResumeLanes(
    noneBehind,
    { execute: async () => admitted } as unknown as AdmitLanes,
    {
      execute: async (...args: unknown[]) => {
        calls.push(['recover', ...args]);
        recovery();
      },
    } as unknown as RecoverLane,
    {
      execute: async (_chain: unknown, signers: readonly SignerId[]) => void looked.push([...signers]),
    } as unknown as LookForDelegations,
    limits,
    memory,
    {
      waitingForPool: async (wanted: readonly SignerRoom[]) => {
        reads.push(...wanted);
        return waiting.filter((tx) => wanted.some(({ signer }) => sameSigner(signer, tx.signer)));
      },
      lowestUnmined: async (signers: readonly SignerId[], perSigner: number) => {
        expect([signers, perSigner]).toEqual([[OTHER.signer], limits.of(OTHER.signer)]);
        return unmined.slice(0, perSigner);
      },
      inFlightAround: async (slots: readonly unknown[]) => slots.map(() => ({ below, isPassed: false })),
    } as unknown as TxsInFlight,
    {
      resend: async (_chain: number, leases: readonly Lease[], txs: readonly ManagedTx[]) => {
        calls.push(['resend', leases]);
        resent.push(...txs);
        onResend();
        return { sent: [], toRenew: txs };
      },
      renew: async (_chain: number, _leases: unknown, txs: readonly ManagedTx[]) => void renewed.push(...txs),
    } as unknown as ResendAttempts,
  );
  limits.refused(LEASE.signer, LIMIT);
  memory.admitted([LEASE, OTHER]);
});

const waits = (nonce: bigint): ManagedTx =>
  aManagedTx({ signer: LEASE.signer, state: 'ALLOCATED', subState: 'POOL_LIMIT', nonce }).build();
const execute = (): Promise<readonly Lease[]> => resume.execute(CHAIN, [LEASE, OTHER]);

it('a lane that was not admitted since a new epoch began neither begins nor goes on', async () => {
  expect(await execute()).toEqual([LEASE, OTHER]);
  memory.forgetAll();
  memory.admitted([OTHER]);
  calls.length = 0;
  expect(await execute()).toEqual([OTHER]);
  expect(calls).toEqual([['recover', CHAIN, [OTHER]]]);
});

it('a lane of which it is not known what is out neither begins nor goes on', async () => {
  admitted = [OTHER];
  expect(await execute()).toEqual([OTHER]);
  limits.madeRoom([LEASE.signer]);
  waiting = [waits(3n)];
  await execute();
  expect(calls).toEqual([['recover', CHAIN, [OTHER]]]);
});

it('a lane finishes what was left before it sends again what waits for room in a pool', async () => {
  limits.madeRoom([LEASE.signer]);
  waiting = [waits(3n)];
  await execute();
  expect(calls).toEqual([
    ['recover', CHAIN, [LEASE, OTHER]],
    ['resend', [LEASE, OTHER]],
  ]);
});

describe('a lane starts from the database', () => {
  const recovered = () => calls.filter(([name]) => name === 'recover').map(([, , leases]) => leases);

  it('once, and has nothing to finish a second time', async () => {
    await execute();
    await execute();
    expect(recovered()).toEqual([[LEASE, OTHER]]);
  });

  it('by itself, when the others of the step have begun already', async () => {
    memory.recovered([LEASE]);
    await execute();
    expect(recovered()).toEqual([[OTHER]]);
  });

  it('again when its recovery could not finish everything', async () => {
    recovery = () => memory.forget([LEASE.signer]);
    await execute();
    expect([LEASE, OTHER].map((lease) => memory.needsRecovery(lease))).toEqual([true, false]);
  });
});

it('a lane looks whether its account delegates when it begins, and after a tx that may have changed that', async () => {
  await execute();
  await execute();
  limits.delegates(OTHER.signer);
  await execute();
  limits.madeRoom([OTHER.signer]);
  await execute();
  expect(looked).toEqual([[LEASE.signer, OTHER.signer], [], [], [OTHER.signer]]);
});

describe('txs that a pool refused', () => {
  it('are not even read before there may be room', async () => {
    waiting = [waits(3n)];
    await execute();
    expect([reads, resent]).toEqual([[], []]);
  });

  it('go again when txs were mined: lowest nonces first, as many as the limit leaves room for', async () => {
    waiting = [waits(3n), waits(4n), waits(5n), waits(6n)];
    limits.madeRoom([LEASE.signer, OTHER.signer]);
    await execute();
    expect(resent).toEqual(waiting.slice(0, LIMIT - below));
    expect(renewed).toEqual(resent);
    expect(reads).toEqual([{ signer: LEASE.signer, room: LIMIT }]);
  });

  it('stay where the pool has all that it takes', async () => {
    [waiting, below] = [[waits(7n)], LIMIT];
    limits.madeRoom([LEASE.signer]);
    await execute();
    expect(resent).toEqual([]);
  });

  it('are read once for each time that there may be room, and no more when none is left', async () => {
    waiting = [waits(3n)];
    limits.madeRoom([LEASE.signer]);
    await execute();
    await execute();
    expect(reads).toHaveLength(1);
    waiting = [];
    limits.madeRoom([LEASE.signer]);
    await execute();
    limits.madeRoom([LEASE.signer]);
    await execute();
    expect(reads).toHaveLength(2);
  });
});

describe('what a pool had, and dropped without a word', () => {
  const unminedTx = (nonce: bigint, progress: Partial<TxProgress> = {}, more: Partial<UnminedTx> = {}): UnminedTx => ({
    tx: aManagedTx({ signer: OTHER.signer, state: 'IN_MEMPOOL', nonce, ...progress }).build(),
    newest: said(null),
    isHeld: false,
    ...more,
  });
  const said = (errorClass: NodeErrorClass | null): UnminedTx['newest'] => ({
    kind: 'payload',
    pricedAtBlock: 1,
    errorClass,
  });

  it('is sent again with all that its signer has out, lowest nonces first, as many as may be in flight; once', async () => {
    unmined = [...Array(START).keys()].map((nonce) => unminedTx(BigInt(nonce)));
    limits.dropped(OTHER.signer);
    await execute();
    expect(resent).toEqual(unmined.slice(0, START / 2).map(({ tx }) => tx));
    await execute();
    expect(resent).toHaveLength(START / 2);
  });

  it('is sent again also while it counts as stale, or is being cancelled; not what is held, was not sent, or was refused since', async () => {
    unmined = [
      unminedTx(1n, { subState: 'STALE' }),
      unminedTx(2n, {}, { isHeld: true }),
      unminedTx(3n, { state: 'ALLOCATED' }),
      unminedTx(4n, {}, { newest: said('insufficient_funds') }),
      unminedTx(5n, { subState: 'CANCELLING' }),
      unminedTx(6n, { subState: 'FEE_CAPPED', lastError: 'above the caps' }, { newest: said('already_known') }),
    ];
    limits.dropped(OTHER.signer);
    await execute();
    expect(resent.map(({ nonce }) => nonce)).toEqual([1n, 5n, 6n]);
    expect(renewed).toEqual([]);
  });

  it('is sent again after a pause when a step failed for it, and the lane goes on meanwhile', async () => {
    unmined = [unminedTx(1n)];
    limits.dropped(OTHER.signer);
    onResend = () => {
      throw new Error('no database');
    };
    await expect(execute()).rejects.toThrow('no database');
    onResend = () => undefined;
    expect(await execute()).toEqual([LEASE, OTHER]);
    expect(resent).toHaveLength(1);
    clock.advance(5_000);
    await execute();
    expect(resent).toHaveLength(2);
  });

  it('is sent again after pauses that double, until something is mined: some pools take as new what they have', async () => {
    unmined = [unminedTx(1n)];
    const sentAt: number[] = [];
    for (let second = 0; second < 150; second += 1) {
      limits.dropped(OTHER.signer);
      const before = resent.length;
      await execute();
      if (resent.length > before) sentAt.push(second);
      if (second === 80) limits.mined(OTHER.signer, 0n, { block: 1, count: 1, inFlight: 2 });
      clock.advance(1_000);
    }
    expect(sentAt).toEqual([0, 5, 15, 35, 75, 135, 140]);
  });

  it('is gone once: that a pool takes the others again is no news', async () => {
    unmined = [unminedTx(1n), unminedTx(2n)];
    limits.dropped(OTHER.signer);
    onResend = () => limits.dropped(OTHER.signer);
    await execute();
    await execute();
    expect(resent).toHaveLength(2);
  });
});
