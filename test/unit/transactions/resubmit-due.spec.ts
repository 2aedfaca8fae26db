import { beforeEach, describe, expect, it } from '@jest/globals';
import { ExecutionConfig } from '../../../src/config/index.js';
import type { Chains } from '../../../src/modules/chain/index.js';
import type { Lease, LeaseManager } from '../../../src/modules/signers/index.js';
import type { BroadcastAttempts } from '../../../src/modules/transactions/application/broadcast-attempts.js';
import type { CloseSlots } from '../../../src/modules/transactions/application/close-slots.js';
import type { HealGaps } from '../../../src/modules/transactions/application/heal-gaps.js';
import type { LeasedWork } from '../../../src/modules/transactions/application/leased-work.js';
import type { RepricePayloads } from '../../../src/modules/transactions/application/reprice-payloads.js';
import { ResubmitDue } from '../../../src/modules/transactions/application/resubmit-due.js';
import type { Sending } from '../../../src/modules/transactions/application/sending.js';
import type { TxMetrics } from '../../../src/modules/transactions/application/tx-metrics.js';
import type { Attempt, AttemptStatus } from '../../../src/modules/transactions/domain/attempt.js';
import type { ManagedTx } from '../../../src/modules/transactions/domain/managed-tx.js';
import type { AttemptRepository, ManagedTxRepository } from '../../../src/modules/transactions/index.js';
import { aHash, aManagedTx, anAttempt, aSigner, DEV_CHAIN } from '../../support/builders.js';

const LEASE: Lease = { signer: aSigner(), owner: 'node', token: 1n };

/** The tx whose timer has run out, as the signer's worker finds it, and its attempts, oldest first. */
let tx: ManagedTx;
let stored: Attempt[];
let sent: Sending[];
let resubmit: ResubmitDue;

beforeEach(() => {
  tx = aManagedTx({ state: 'IN_MEMPOOL', nonce: 7n }).build();
  sent = [];
  const nothing = { execute: async () => [] };
  resubmit = new ResubmitDue(
    { get: () => null } as unknown as Chains,
    { heldOn: () => [LEASE] } as unknown as LeaseManager,
    {
      run: async (
        _chain: number,
        due: readonly ManagedTx[],
        task: (leases: Lease[], share: unknown) => Promise<void>,
      ) => task([LEASE], due),
    } as unknown as LeasedWork,
    { dueForResubmit: async () => [tx], byIds: async () => [tx] } as unknown as ManagedTxRepository,
    { ofSlots: async () => stored } as unknown as AttemptRepository,
    {
      execute: async (_chain: unknown, _leases: unknown, sendings: readonly Sending[]) => void sent.push(...sendings),
    } as unknown as BroadcastAttempts,
    nothing as unknown as CloseSlots,
    nothing as unknown as RepricePayloads,
    nothing as unknown as HealGaps,
    new ExecutionConfig(),
    { resubmitted: () => undefined } as unknown as TxMetrics,
  );
});

async function sentAgain(...statuses: readonly AttemptStatus[]): Promise<[number, AttemptStatus][]> {
  stored = statuses.map((status, index) => anAttempt({ txId: tx.id, txHash: aHash(index), status }));
  await resubmit.execute(DEV_CHAIN);
  return sent.map(({ attempt }) => [Number(BigInt(attempt.txHash)), attempt.status]);
}

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
});
