import { beforeEach, describe, expect, it } from '@jest/globals';
import { ConfirmationsConfig, ResubmitConfig } from '../../../src/config/index.js';
import { RecordSends } from '../../../src/modules/sending/application/record-sends.js';
import type { ClassifiedSend } from '../../../src/modules/sending/application/send.js';
import type { SendVerdict } from '../../../src/modules/sending/domain/send-verdict.js';
import type { TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import {
  ManagedTxRepository,
  type Attempt,
  type AttemptOutcome,
  type ManagedTx,
} from '../../../src/modules/ledger/index.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aHash, aManagedTx, anAttempt, aSigner, aLease } from '../../support/builders.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const SIGNER = aSigner();
const LEASES = [aLease(SIGNER), aLease(aSigner(2), 2n)];
const STALE_RECEIPT = 45_000;
const SENT: Extract<SendVerdict, { kind: 'sent' }> = {
  kind: 'sent',
  subState: null,
  askReceipt: false,
  retryInMs: 60_000,
  counts: true,
};
const FOR_GOOD: SendVerdict = { kind: 'refused', as: 'FAILED', reason: 'too large' };
const REQUEUED: SendVerdict = { kind: 'refused', as: 'PENDING', reason: 'too large' };
const WAITING: SendVerdict = { kind: 'waiting', subState: 'NODE_UNAVAILABLE', retryInMs: 2_000 };
const REFUSED: Partial<AttemptOutcome> = { status: 'REJECTED', errorClass: 'oversized_data', error: 'too large' };
const HUNG_UP: Partial<AttemptOutcome> = { status: 'UNKNOWN', errorClass: 'transient', error: 'hung up' };

let metrics: FakeMetrics;
let writes: RecordedWrites;
let resubmit: ResubmitConfig;
let confirmations: ConfirmationsConfig;
let log: RecordingLog;
let record: RecordSends;
let originals: ManagedTx[];

beforeEach(() => {
  [metrics, writes, resubmit, log] = [
    new FakeMetrics(),
    new RecordedWrites(),
    new ResubmitConfig(),
    new RecordingLog(),
  ];
  confirmations = Object.assign(new ConfirmationsConfig(), {
    staleReceiptTimeout: STALE_RECEIPT,
    fetchReceiptUponEntry: false,
  });
  originals = [];
  const repository = fakeOf(ManagedTxRepository, {
    byIds: async (ids) => originals.filter(({ id }) => ids.includes(id)),
  });
  record = new RecordSends(writes.asDoor(), repository, resubmit, confirmations, metrics, log);
});

const counted = () => metrics.counted('tx_submit_total');

function aSend(
  verdict: SendVerdict,
  outcome: Partial<AttemptOutcome> = {},
  {
    nonce = 7n,
    kind = 'payload',
    ...progress
  }: Partial<TxProgress> & { nonce?: bigint; kind?: 'payload' | 'fill' } = {},
): ClassifiedSend {
  const tx = aManagedTx({ txId: `tx-${nonce}`, kind, state: 'ALLOCATED', nonce, ...progress }).build();
  const attempt: Attempt = anAttempt({ nonce, txHash: aHash(nonce), txId: tx.id, kind });
  const ok = { attempt, status: 'ACCEPTED', errorClass: null, error: null, notSent: false, alone: false } as const;
  return { tx, attempt, verdict, outcome: { ...ok, ...outcome } };
}

const execute = (...sends: readonly ClassifiedSend[]): Promise<ManagedTx[]> => record.execute(LEASES, sends);
const IN_MEMPOOL = { state: 'IN_MEMPOOL' } as const;

describe('what nodes took', () => {
  it('is in the mempool, with the hash that was sent, in one write under the lease of its signer', async () => {
    const sends = [aSend(SENT), aSend(SENT, {}, { nonce: 8n })];
    await execute(...sends);
    expect(writes.written).toMatchObject([{ operation: 'record', tokens: [1n] }]);
    expect(writes.answered).toEqual(sends.map(({ outcome }) => outcome));
    const sent = { state: 'IN_MEMPOOL', submitted: true };
    expect(writes.txs).toMatchObject([7n, 8n].map((nonce) => ({ ...sent, progress: { nonce, txHash: aHash(nonce) } })));
    expect([writes.released, counted(), log.lines]).toEqual([[], { accepted: 2 }, []]);
  });

  it('is written into copies: a transaction that is rolled back leaves the tx as it was', async () => {
    const item = aSend(SENT);
    writes.onWrite = () => {
      throw new Error('rolled back');
    };
    await expect(execute(item)).rejects.toThrow('rolled back');
    expect([item.tx.state, item.tx.pendingEvents()]).toEqual(['ALLOCATED', []]);
  });
});

describe('a refusal for a limit of the pool', () => {
  const FULL: Partial<AttemptOutcome> = { status: 'REJECTED', errorClass: 'txpool_full', error: 'txpool is full' };

  it.each(['ALLOCATED', 'IN_MEMPOOL'] as const)(
    'counts against an %s tx only when it is not behind others',
    async (state) => {
      const lowest: SendVerdict = { kind: 'waiting', subState: 'POOL_LIMIT', retryInMs: 60_000 };
      const behind: SendVerdict = { ...lowest, counts: false };
      const before = { state, subState: 'POOL_LIMIT', tries: 3 } as const;
      await execute(aSend(behind, FULL, before), aSend(lowest, FULL, { nonce: 8n, ...before }));
      expect(writes.txs.map(({ progress: { state: after, tries } }) => [after, tries])).toEqual([
        [state, 3],
        [state, 4],
      ]);
    },
  );
});

describe('a replacement that every endpoint refused', () => {
  const WITHDRAWN: SendVerdict = { kind: 'withdrawn', reason: 'too large' };
  const RACED = {
    txId: 'original',
    state: 'IN_MEMPOOL',
    nonce: 7n,
    replacedBy: 'tx-7',
    subState: 'REPLACING',
  } as const;
  const withdraw = (): Promise<unknown> => execute(aSend(WITHDRAWN, REFUSED, { replaces: 'original' }));

  it('rests with the words of the node, and its original has the slot again and is sent again', async () => {
    originals = [aManagedTx(RACED).build()];
    await withdraw();
    expect(writes.txs).toMatchObject([
      { isWithdrawn: true, progress: { failureReason: 'too large' } },
      {
        progress: { replacedBy: null, withdrawnReplacement: 'tx-7', subState: null },
        timers: { resubmit: { inMs: 0 } },
      },
    ]);
    expect(writes.slots('handedOver')).toMatchObject([{ nonce: 7n, txId: 'original' }]);
    expect(writes.released).toEqual([]);
  });

  it('is forgotten by an original that was mined meanwhile: after a reorg nobody else would be sent', async () => {
    originals = [aManagedTx({ ...RACED, state: 'MINED' }).build()];
    await withdraw();
    expect(writes.txs).toMatchObject([{ isWithdrawn: true }, { state: 'MINED', progress: { replacedBy: null } }]);
    expect(writes.slots('handedOver')).toMatchObject([{ nonce: 7n, txId: 'original' }]);
  });

  it('rests alone when its original has ended', async () => {
    originals = [aManagedTx({ ...RACED, state: 'CONFIRMED' }).build()];
    await withdraw();
    expect(writes.txs).toMatchObject([{ isWithdrawn: true }]);
    expect(writes.slots('handedOver')).toEqual([]);
  });
});

describe('a refusal', () => {
  it.each([
    [FOR_GOOD, 'too large'],
    [REQUEUED, null],
  ])('frees no slot: a no-op is to close it, and is wanted at once (%j)', async (verdict, failureReason) => {
    const wanted = await execute(aSend(verdict, REFUSED), aSend(SENT, {}, { nonce: 8n }));
    expect(wanted.map(({ id }) => id)).toEqual(['tx-7']);
    expect(writes.txs[0]).toMatchObject({ isClosing: true, timers: { resubmit: { inMs: 0 } } });
    const { as } = verdict;
    const closing = { as, reason: 'too large', won: false };
    expect(writes.txs[0]?.progress).toMatchObject({ subState: 'REFUSED', nonce: 7n, closing, failureReason });
    expect([writes.released, counted()]).toEqual([[], { rejected: 1, accepted: 1 }]);
  });

  it('is logged with the tx, the error and what it means', async () => {
    await execute(aSend(FOR_GOOD, REFUSED));
    const fields = { txId: 'tx-7', txHash: aHash(7), nonce: 7n, error: 'too large', verdict: 'refused' };
    expect(log.lines).toEqual([
      { event: 'broadcast returned an error', fields: { ...fields, errorClass: 'oversized_data' } },
    ]);
  });

  it('of what was accepted once is counted as unknown: it says nothing about the first send', async () => {
    await execute(aSend(SENT, { status: 'ACCEPTED', error: 'hung up' }, IN_MEMPOOL));
    expect(counted()).toEqual({ unknown: 1 });
  });
});

describe('a tx that has to wait', () => {
  it('stays where it is, and is sent again after a while', async () => {
    await execute(aSend(WAITING, REFUSED));
    const waits = { state: 'ALLOCATED', timers: { resubmit: { inMs: 2_000 } }, submitted: false };
    expect(writes.txs).toMatchObject([
      { ...waits, progress: { subState: 'NODE_UNAVAILABLE', lastError: 'too large' } },
    ]);
  });

  it('stays in the mempool when it was there', async () => {
    await execute(aSend(WAITING, REFUSED, IN_MEMPOOL));
    const timers = { resubmit: { inMs: 2_000 }, receiptCheck: { inMs: STALE_RECEIPT } };
    expect(writes.txs).toMatchObject([{ state: 'IN_MEMPOOL', timers, progress: { subState: 'NODE_UNAVAILABLE' } }]);
  });

  it('keeps its slot, a fill like a payload', async () => {
    await execute(aSend(WAITING, REFUSED, { kind: 'fill' }));
    expect(writes.txs).toMatchObject([{ kind: 'fill', state: 'ALLOCATED', progress: { nonce: 7n } }]);
    expect(writes.released).toEqual([]);
  });
});

describe('a tx that is sent again', () => {
  it('shows that it is late, or why nobody knows', async () => {
    await execute(aSend(SENT, {}, IN_MEMPOOL));
    await execute(aSend({ ...SENT, subState: 'OUTCOME_UNKNOWN' }, HUNG_UP, IN_MEMPOOL));
    expect(writes.txs.map(({ progress }) => progress.subState)).toEqual(['STALE', 'OUTCOME_UNKNOWN']);
  });

  it('counts its errors only where they count', async () => {
    for (const counts of [true, false])
      for (const state of ['ALLOCATED', 'IN_MEMPOOL'] as const)
        await execute(aSend({ ...SENT, subState: 'OUTCOME_UNKNOWN', counts }, HUNG_UP, { state }));
    expect(writes.txs.map(({ progress }) => progress.tries)).toEqual([1, 1, 0, 0]);
    expect(counted()).toEqual({ unknown: 4 });
  });
});

describe('the next look', () => {
  const timersOf = async (verdict: Partial<typeof SENT>) => {
    await execute(aSend({ ...SENT, ...verdict }));
    return writes.txs.at(-1)?.timers;
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
