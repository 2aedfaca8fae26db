import { beforeEach, describe, expect, it } from '@jest/globals';
import { ExecutionConfig } from '../../../src/config/index.js';
import type { ChainConnector } from '../../../src/modules/chain/index.js';
import type { NextPending } from '../../../src/modules/lanes/application/next-pending.js';
import { type PreparedTxs, PreparePending } from '../../../src/modules/lanes/application/prepare-pending.js';
import type { SimulatePending } from '../../../src/modules/lanes/application/simulate-pending.js';
import type { ManagedTx, ManagedTxRepository, PendingTx } from '../../../src/modules/transactions/index.js';
import type { PendingVerdict } from '../../../src/modules/lanes/application/pending-verdict.js';
import { aManagedTx, aRequest, aSigner } from '../../support/builders.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const [A, B] = [aSigner(1), aSigner(2)];
const LEASES = [A, B].map((signer, index) => ({ signer, owner: 'node', token: BigInt(index + 1) }));
const BATCH = 2;
const READY: PendingVerdict = { kind: 'ready', gasLimit: 22_000n, cost: 1n };
const NOT_NOW: PendingVerdict = { kind: 'not_now', apply: (tx) => tx.failed('reverts') };

/** Signers whose queues are read again from the start. */
let left: unknown[];
let waiting: PendingTx[];
let verdicts: PendingVerdict[];
/** Ids of what still waits when it is to be written. */
let locked: Set<string>;
let writes: RecordedWrites;
let log: RecordingLog;
let prepare: PreparePending;

beforeEach(() => {
  [waiting, verdicts, locked, left] = [[], [], new Set(['a', 'b']), []];
  [writes, log] = [new RecordedWrites(), new RecordingLog()];
  prepare = new PreparePending(
    {
      execute: async () => waiting,
      leftWaiting: (some: readonly unknown[]) => void left.push(...some),
    } as unknown as NextPending,
    {
      execute: async (_chain: unknown, some: readonly unknown[]) => some.map((_, i) => verdicts[i]),
    } as unknown as SimulatePending,
    {
      lockPending: async (_fence: unknown, txs: readonly ManagedTx[]) =>
        new Set(txs.map(({ id }) => id).filter((id) => locked.has(id))),
    } as unknown as ManagedTxRepository,
    writes.asDoor(),
    Object.assign(new ExecutionConfig(), { batchSize: BATCH }),
    log,
  );
});

const pending = (txId: string, signer = A): PendingTx => ({
  tx: aManagedTx({ txId, signer }).build(),
  request: aRequest({ signer }),
  expired: false,
  wasTried: false,
});

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
    expect([writes.written, left]).toEqual([[], [B]]);
  });

  it('is left alone when it does not wait any more', async () => {
    waiting = [pending('a'), pending('b')];
    verdicts = [NOT_NOW, NOT_NOW];
    locked.delete('a');
    await prepared();
    expect(writes.txs.map(({ id }) => id)).toEqual(['b']);
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
