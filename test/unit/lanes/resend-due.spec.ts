import { beforeEach, describe, expect, it } from '@jest/globals';
import { ExecutionConfig } from '../../../src/config/index.js';
import type { Chains } from '../../../src/modules/chain/index.js';
import type { Lease, LeaseManager, SlotRef } from '../../../src/modules/signers/index.js';
import type { BroadcastAttempts } from '../../../src/modules/sending/application/broadcast-attempts.js';
import type { SignNoOps } from '../../../src/modules/sending/application/sign-no-ops.js';
import type { FreeNonceGaps } from '../../../src/modules/nonces/application/free-nonce-gaps.js';
import type { LeasedWork } from '../../../src/modules/transactions/application/writing/leased-work.js';
import type { RepricePayloads } from '../../../src/modules/sending/application/reprice-payloads.js';
import { ResendDue } from '../../../src/modules/lanes/application/resend-due.js';
import type { Sending } from '../../../src/modules/sending/application/send.js';
import type { TxMetrics } from '../../../src/modules/transactions/application/writing/tx-metrics.js';
import type { Attempt, AttemptStatus } from '../../../src/modules/transactions/domain/attempt.js';
import type { ManagedTx } from '../../../src/modules/transactions/domain/managed-tx.js';
import type { AttemptRepository, ManagedTxRepository } from '../../../src/modules/transactions/index.js';
import { aHash, aManagedTx, anAttempt, aSigner, DEV_CHAIN } from '../../support/builders.js';

const LEASE: Lease = { signer: aSigner(), owner: 'node', token: 1n };
const BATCH = 20;

/** The tx whose timer has run out, as the signer's worker finds it, and its attempts, oldest first. */
let tx: ManagedTx;
let stored: Attempt[];
let leases: Lease[];
/** What was signed anew for it: a no-op, or at another price. */
let noOps: Sending[];
let repriced: Sending[];
let sent: Sending[];
let calls: unknown[][];
let resubmit: ResendDue;

beforeEach(() => {
  tx = aManagedTx({ state: 'IN_MEMPOOL', nonce: 7n }).build();
  [stored, leases, noOps, repriced, sent, calls] = [[], [LEASE], [], [], [], []];
  resubmit = new ResendDue(
    { get: () => null } as unknown as Chains,
    { heldOn: () => leases } as unknown as LeaseManager,
    {
      run: async (
        _chain: number,
        due: readonly ManagedTx[],
        task: (leases: Lease[], share: unknown) => Promise<void>,
      ) => task([LEASE], due),
    } as unknown as LeasedWork,
    {
      dueForResubmit: async (...args: unknown[]) => (calls.push(['due', ...args]), [tx]),
      byIds: async (ids: readonly string[]) => (calls.push(['again', ...ids]), [tx]),
    } as unknown as ManagedTxRepository,
    {
      ofSlots: async (slots: readonly SlotRef[]) => (slots.length > 0 && calls.push(['attempts of', ...slots]), stored),
    } as unknown as AttemptRepository,
    {
      execute: async (_chain: unknown, _leases: unknown, sendings: readonly Sending[]) => void sent.push(...sendings),
    } as unknown as BroadcastAttempts,
    {
      execute: async (_chain: unknown, _leases: unknown, closing: readonly { rivals: readonly Attempt[] }[]) => {
        for (const { rivals } of closing) calls.push(['close', ...rivals.map(({ status }) => status)]);
        return noOps;
      },
    } as unknown as SignNoOps,
    {
      execute: async (_chain: unknown, _leases: unknown, all: readonly { tx: ManagedTx }[]) => {
        for (const each of all) calls.push(['reprice', each.tx.id]);
        return repriced;
      },
    } as unknown as RepricePayloads,
    {
      execute: async (chainId: number, signers: readonly unknown[]) => void calls.push(['gaps', chainId, ...signers]),
    } as unknown as FreeNonceGaps,
    Object.assign(new ExecutionConfig(), { batchSize: BATCH }),
    { resubmitted: (...args: unknown[]) => void calls.push(['count', ...args]) } as unknown as TxMetrics,
  );
});

async function sentAgain(...statuses: readonly AttemptStatus[]): Promise<[number, AttemptStatus][]> {
  stored = statuses.map((status, index) => anAttempt({ txId: tx.id, txHash: aHash(index), status }));
  await resubmit.execute(DEV_CHAIN);
  return sent.map(({ attempt }) => [Number(BigInt(attempt.txHash)), attempt.status]);
}

const callsOf = (name: string): unknown[][] => calls.filter(([each]) => each === name);

describe('what is sent again', () => {
  it('may be out already when nobody wrote down what its last send was answered', async () => {
    expect(await sentAgain('SIGNED')).toEqual([[0, 'UNKNOWN']]);
  });

  it('is the newest attempt, and proven not to be out only where every node refused it', async () => {
    expect(await sentAgain('ACCEPTED', 'REJECTED')).toEqual([[1, 'REJECTED']]);
  });

  it('is nothing of a tx that was mined meanwhile', async () => {
    tx = aManagedTx({ state: 'MINED', nonce: 7n }).build();
    expect(await sentAgain('ACCEPTED')).toEqual([]);
  });

  it('is what is due of the signers of this node, read again by the worker of the signer', async () => {
    await sentAgain('ACCEPTED');
    expect(calls).toEqual([
      ['due', DEV_CHAIN, [LEASE.signer], BATCH],
      ['again', tx.id],
      ['attempts of', { signer: LEASE.signer, nonce: 7n }],
      ['reprice', tx.id],
      ['count', 'same_bytes', 1],
      ['gaps', DEV_CHAIN, LEASE.signer],
    ]);
  });

  it('is also what has a nonce and was never taken by a node', async () => {
    tx = aManagedTx({ state: 'ALLOCATED', nonce: 7n }).build();
    expect(await sentAgain('REJECTED')).toEqual([[0, 'REJECTED']]);
  });

  it('is nothing when nothing of it was signed, or the attempts are of another tx', async () => {
    expect(await sentAgain()).toEqual([]);
    stored = [anAttempt({ txId: null }), anAttempt({ txId: 'another' })];
    await resubmit.execute(DEV_CHAIN);
    expect(sent).toEqual([]);
  });

  it('costs no question while the node has no signer', async () => {
    leases = [];
    expect([await sentAgain('ACCEPTED'), calls]).toEqual([[], []]);
  });

  it('is what was signed anew in place of the old bytes, and counts as no repetition', async () => {
    for (const signAnew of [
      (sending: Sending) => void (noOps = [sending]),
      (sending: Sending) => void ([noOps, repriced] = [[], [sending]]),
    ]) {
      signAnew({ tx, attempt: anAttempt({ txId: tx.id, txHash: aHash(9) }) });
      sent = [];
      expect(await sentAgain('ACCEPTED')).toEqual([[9, 'SIGNED']]);
    }
    expect(callsOf('count')).toEqual(new Array(2).fill(['count', 'same_bytes', 0]));
  });
});

describe('a slot that is being closed', () => {
  beforeEach(() => {
    tx = aManagedTx({ state: 'IN_MEMPOOL', nonce: 7n, failureReason: 'refused' }).build();
  });
  const closedAfter = async (...attempts: readonly Partial<Attempt>[]): Promise<boolean> => {
    calls = [];
    stored = attempts.map((attempt) => anAttempt({ txId: tx.id, ...attempt }));
    await resubmit.execute(DEV_CHAIN);
    return callsOf('close').length > 0;
  };
  const noOp = (errorClass: Attempt['errorClass']): Partial<Attempt> => ({ kind: 'cancel', errorClass });

  it('gets a no-op when it has none yet, which has to outbid all that was signed', async () => {
    expect(await closedAfter({ status: 'UNKNOWN' }, { status: 'REJECTED' })).toBe(true);
    expect(callsOf('close')).toEqual([['close', 'UNKNOWN', 'REJECTED']]);
  });

  it('gets another when the last one was refused for what it is, or for its price', async () => {
    for (const errorClass of ['oversized_data', 'underpriced', 'replacement_underpriced'] as const)
      expect(await closedAfter({}, noOp(errorClass))).toBe(true);
  });

  it('has its no-op sent again when that was taken, or refused for another reason', async () => {
    for (const errorClass of [null, 'txpool_full', 'nonce_too_low'] as const)
      expect(await closedAfter({}, noOp(errorClass))).toBe(false);
    expect(sent.map(({ attempt }) => attempt.kind)).toEqual(['cancel', 'cancel', 'cancel']);
  });

  it('is no slot of a tx that is only late', async () => {
    tx = aManagedTx({ state: 'IN_MEMPOOL', nonce: 7n }).build();
    expect(await closedAfter({ errorClass: 'oversized_data' })).toBe(false);
  });
});
