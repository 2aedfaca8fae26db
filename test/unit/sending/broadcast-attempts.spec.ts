import { beforeEach, describe, expect, it } from '@jest/globals';
import { ConfirmationsConfig, ResubmitConfig } from '../../../src/config/index.js';
import type { BroadcastOutcome, ChainConnector } from '../../../src/modules/chain/index.js';
import type { NonceLedger, SlotRef } from '../../../src/modules/signers/index.js';
import { BroadcastAttempts } from '../../../src/modules/sending/application/broadcast-attempts.js';
import type { ClassifySends } from '../../../src/modules/sending/application/classify-sends.js';
import { LaneMemory } from '../../../src/modules/transactions/application/writing/lane-memory.js';
import type { AnsweredSend, Sending } from '../../../src/modules/sending/application/send.js';
import type { TxMetrics } from '../../../src/modules/transactions/application/writing/tx-metrics.js';
import type { Attempt, AttemptOutcome } from '../../../src/modules/transactions/domain/attempt.js';
import type { ManagedTx } from '../../../src/modules/transactions/domain/managed-tx.js';
import type { SendVerdict } from '../../../src/modules/sending/domain/send-verdict.js';
import type { AttemptRepository, ManagedTxRepository } from '../../../src/modules/transactions/index.js';
import { aHash, aManagedTx, anAttempt, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { UnfencedWork } from '../../support/fakes/unfenced-work.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const SIGNER = aSigner();
const OTHER = aSigner(2);
const LEASES = [
  { signer: SIGNER, owner: 'node', token: 1n },
  { signer: OTHER, owner: 'node', token: 2n },
];
const STALE_RECEIPT = 45_000;
const SENT: Extract<SendVerdict, { kind: 'sent' }> = {
  kind: 'sent',
  subState: null,
  askReceipt: false,
  retryInMs: 60_000,
  counts: true,
};
const FOR_GOOD: SendVerdict = { kind: 'refused_for_good', reason: 'too large' };
const REQUEUED: SendVerdict = { kind: 'requeued', subState: 'INSUFFICIENT_FUNDS', retryInMs: 2_000 };
const WAITING: SendVerdict = { kind: 'waiting', subState: 'NODE_UNAVAILABLE', retryInMs: 2_000 };
const REJECTED: BroadcastOutcome = { kind: 'rejected', errorClass: 'oversized_data', message: 'too large' };
const UNKNOWN: BroadcastOutcome = { kind: 'unknown', errorClass: 'transient', message: 'hung up' };

let answers: (nonce: bigint) => BroadcastOutcome;
let verdicts: (nonce: bigint) => SendVerdict;
/** What happened, in order. */
let steps: string[];
/** Nonces of each call of the chain. */
let trains: bigint[][];
let outcomes: AttemptOutcome[];
let released: SlotRef[];
let saved: ManagedTx[];
let entered: ManagedTx[];
let counted: string[];
let work: UnfencedWork;
let memory: LaneMemory;
let resubmit: ResubmitConfig;
let confirmations: ConfirmationsConfig;
let log: RecordingLog;
let broadcast: BroadcastAttempts;

beforeEach(() => {
  [answers, verdicts] = [() => ({ kind: 'accepted' }), () => SENT];
  [steps, trains, outcomes, released, saved, entered, counted] = [[], [], [], [], [], [], []];
  work = new UnfencedWork();
  memory = new LaneMemory(new FakeClock());
  memory.aligned(LEASES);
  memory.gapsChecked(LEASES, new Set());
  resubmit = new ResubmitConfig();
  confirmations = Object.assign(new ConfirmationsConfig(), {
    staleReceiptTimeout: STALE_RECEIPT,
    fetchReceiptUponEntry: false,
  });
  log = new RecordingLog();
  broadcast = new BroadcastAttempts(
    work,
    {
      aboutToSend: async (_fence: unknown, attempts: readonly Attempt[]) =>
        void steps.push(`about to send ${attempts.map(({ nonce }) => nonce).join()}`),
      recordOutcomes: async (_fence: unknown, all: readonly AttemptOutcome[]) => {
        steps.push('record');
        outcomes.push(...all);
      },
    } as unknown as AttemptRepository,
    {
      save: async (_fence: unknown, txs: readonly ManagedTx[]) => void saved.push(...txs),
    } as unknown as ManagedTxRepository,
    {
      release: async (_fence: unknown, slots: readonly SlotRef[]) => void released.push(...slots),
    } as unknown as NonceLedger,
    {
      execute: async (_chain: unknown, answered: readonly AnsweredSend[]) =>
        answered.map((send) => ({ ...send, verdict: verdicts(send.attempt.nonce) })),
    } as unknown as ClassifySends,
    memory,
    resubmit,
    confirmations,
    {
      submitted: (result: string, count: number) => void counted.push(`${result} ${count}`),
      entered: (txs: readonly ManagedTx[]) => void entered.push(...txs),
    } as unknown as TxMetrics,
    { reached: (point: string) => void steps.push(point) },
    log,
  );
});

const chain = {
  chainId: DEV_CHAIN,
  broadcast: async (sent: readonly { hash: string; raw: string }[]) => {
    steps.push('broadcast');
    const nonces = sent.map(({ hash }) => BigInt(hash));
    trains.push(nonces);
    return nonces.map((nonce) => answers(nonce));
  },
} as unknown as ChainConnector;

/** One whose hash is its nonce. */
function sending(
  nonce: bigint,
  state: 'ALLOCATED' | 'IN_MEMPOOL' = 'ALLOCATED',
  attempt: Partial<Attempt> = {},
): Sending {
  const tx = aManagedTx({ txId: `tx-${nonce}`, state, nonce, signer: attempt.signer ?? SIGNER }).build();
  return { tx, attempt: anAttempt({ nonce, txHash: aHash(nonce), txId: tx.id, ...attempt }) };
}

const fill = (nonce: bigint): Sending => ({
  tx: null,
  attempt: sending(nonce, 'ALLOCATED', { kind: 'fill', txId: null }).attempt,
});
const send = (...sendings: readonly Sending[]): Promise<void> => broadcast.execute(chain, LEASES, sendings);

describe('what is sent', () => {
  it('goes out in nonce order, is recorded under its own leases, and counted', async () => {
    await send(sending(8n), sending(7n));
    expect(steps).toEqual(['broadcast', 'after_broadcast', 'record', 'after_record']);
    expect([trains, work.tokens]).toEqual([[[7n, 8n]], [[1n]]]);
    expect(outcomes.map(({ attempt, status }) => [attempt.nonce, status])).toEqual([
      [7n, 'ACCEPTED'],
      [8n, 'ACCEPTED'],
    ]);
    expect(saved).toMatchObject([7n, 8n].map((nonce) => ({ nonce, state: 'IN_MEMPOOL', submitted: true })));
    expect([entered, released, counted]).toEqual([saved, [], ['accepted 1', 'accepted 1']]);
    expect(log.lines).toEqual([]);
  });

  it('is nothing when there is nothing to send', async () => {
    await send();
    expect([steps, work.tokens]).toEqual([[], []]);
  });

  it('writes what it decides into copies: a transaction that is rolled back leaves the tx as it was', async () => {
    const item = sending(7n);
    await send(item);
    expect(item.tx?.state).toBe('ALLOCATED');
  });

  it('is no longer proven to be in no pool, from before the send on', async () => {
    await send(sending(7n, 'IN_MEMPOOL', { status: 'REJECTED', signer: OTHER }), sending(8n));
    expect(steps).toEqual(['about to send 7', 'broadcast', 'after_broadcast', 'record', 'after_record']);
    expect(work.tokens).toEqual([[2n], [1n, 2n]]);
  });

  it('is not recorded where the chain gave no answer', async () => {
    const silent = { ...chain, broadcast: async () => [] } as unknown as ChainConnector;
    await broadcast.execute(silent, LEASES, [sending(7n)]);
    expect([outcomes, saved]).toEqual([[], []]);
  });
});

describe('a refusal', () => {
  beforeEach(() => {
    answers = () => REJECTED;
  });

  it('for good ends the tx, frees its slot, and leaves a hole to look after', async () => {
    verdicts = () => FOR_GOOD;
    await send(sending(7n));
    expect(saved).toMatchObject([{ state: 'FAILED', progress: { failureReason: 'too large' } }]);
    expect(released).toEqual([{ signer: SIGNER, nonce: 7n }]);
    expect(LEASES.map((lease) => memory.mayHaveGaps(lease))).toEqual([true, false]);
    expect([counted, log.lines.length]).toEqual([['rejected 1'], 1]);
  });

  it('for what may change frees the slot, and the tx waits for another nonce', async () => {
    verdicts = () => REQUEUED;
    await send(sending(7n));
    expect(saved).toMatchObject([{ state: 'PENDING', timers: { resubmit: { inMs: 2_000 } } }]);
    expect(saved[0]?.progress).toMatchObject({ nonce: null, subState: 'INSUFFICIENT_FUNDS', lastError: 'too large' });
    expect(released).toEqual([{ signer: SIGNER, nonce: 7n }]);
    expect(memory.mayHaveGaps({ signer: SIGNER, owner: 'node', token: 1n })).toBe(true);
  });

  it('of something that may be out frees nothing: its slot is to be closed', async () => {
    verdicts = () => ({ kind: 'refused_in_doubt', reason: 'too large' });
    await send(sending(7n));
    expect([saved[0]?.isClosing, released]).toEqual([true, []]);
    expect(LEASES.map((lease) => memory.mayHaveGaps(lease))).toEqual([false, false]);
  });

  it('of a fill frees nothing: it is signed anew', async () => {
    verdicts = () => FOR_GOOD;
    await send(fill(7n));
    expect([released, saved, outcomes.length]).toEqual([[], [], 1]);
  });

  it('of one frees only its slot', async () => {
    answers = (nonce) => (nonce === 7n ? REJECTED : { kind: 'accepted' });
    verdicts = (nonce) => (nonce === 7n ? FOR_GOOD : SENT);
    await send(sending(7n), sending(8n));
    expect(released).toEqual([{ signer: SIGNER, nonce: 7n }]);
    expect(saved.map(({ state }) => state)).toEqual(['FAILED', 'IN_MEMPOOL']);
  });
});

describe('a tx that has to wait', () => {
  beforeEach(() => {
    [answers, verdicts] = [() => REJECTED, () => WAITING];
  });

  it('stays where it is, and is sent again after a while', async () => {
    await send(sending(7n));
    const waits = { state: 'ALLOCATED', timers: { resubmit: { inMs: 2_000 } } };
    expect(saved).toMatchObject([{ ...waits, progress: { subState: 'NODE_UNAVAILABLE', lastError: 'too large' } }]);
  });

  it('stays in the mempool when it was there', async () => {
    await send(sending(7n, 'IN_MEMPOOL'));
    const timers = { resubmit: { inMs: 2_000 }, receiptCheck: { inMs: STALE_RECEIPT } };
    expect(saved).toMatchObject([{ state: 'IN_MEMPOOL', timers, progress: { subState: 'NODE_UNAVAILABLE' } }]);
  });
});

describe('a tx that is sent again', () => {
  it('shows that it is late, or why nobody knows', async () => {
    await send(sending(7n, 'IN_MEMPOOL'));
    verdicts = () => ({ ...SENT, subState: 'OUTCOME_UNKNOWN' });
    await send(sending(8n, 'IN_MEMPOOL'));
    expect(saved.map(({ progress }) => progress.subState)).toEqual(['STALE', 'OUTCOME_UNKNOWN']);
  });

  it('counts its errors only where they count', async () => {
    answers = () => UNKNOWN;
    for (const counts of [true, false])
      for (const state of ['ALLOCATED', 'IN_MEMPOOL'] as const) {
        verdicts = () => ({ ...SENT, subState: 'OUTCOME_UNKNOWN', counts });
        await send(sending(7n, state));
      }
    expect(saved.map(({ progress }) => progress.tries)).toEqual([1, 1, 0, 0]);
    expect(counted).toEqual(new Array(4).fill('unknown 1'));
  });
});

describe('the next look', () => {
  const timersOf = async (verdict: Partial<typeof SENT>) => {
    verdicts = () => ({ ...SENT, ...verdict });
    await send(sending(7n));
    return saved.splice(0)[0]?.timers;
  };
  const sentAgain = { inMs: SENT.retryInMs };
  const receipt = { inMs: STALE_RECEIPT };

  it('at what was sent is after the interval of the verdict, and at its receipt after its own', async () => {
    expect(await timersOf({})).toEqual({ resubmit: sentAgain, receiptCheck: receipt });
  });

  it('at a receipt is at once when a node says that the nonce is used, or when the config wants that', async () => {
    expect(await timersOf({ askReceipt: true })).toEqual({ resubmit: sentAgain, receiptCheck: { inMs: 0 } });
    confirmations.fetchReceiptUponEntry = true;
    expect(await timersOf({})).toEqual({ resubmit: sentAgain, receiptCheck: { inMs: 0 } });
  });

  it('is for its receipt alone where nothing is resubmitted, unless no node has taken it', async () => {
    resubmit.enabled = false;
    expect(await timersOf({})).toEqual({ resubmit: 'clear', receiptCheck: receipt });
    expect(await timersOf({ subState: 'OUTCOME_UNKNOWN' })).toEqual({ resubmit: sentAgain, receiptCheck: receipt });
  });
});

it('a nonce that a node calls used is asked of the chain, and others are not', async () => {
  const asks = () => LEASES.map((lease) => memory.needsAlignment(lease, 1_000));
  answers = () => UNKNOWN;
  await send(sending(7n));
  expect(asks()).toEqual([false, false]);
  verdicts = () => ({ ...SENT, askReceipt: true });
  await send(sending(7n));
  expect(asks()).toEqual([true, false]);
});
