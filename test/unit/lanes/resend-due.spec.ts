import { beforeEach, describe, expect, it } from '@jest/globals';
import { ExecutionConfig } from '../../../src/config/index.js';
import type { ResendAttempts } from '../../../src/modules/lanes/application/resend-attempts.js';
import { ResendDue } from '../../../src/modules/lanes/application/resend-due.js';
import type { FreeNonceGaps } from '../../../src/modules/nonces/index.js';
import type { Lease, LeaseManager } from '../../../src/modules/signers/index.js';
import type { ManagedTx, ManagedTxRepository, TxState } from '../../../src/modules/transactions/index.js';
import { aManagedTx, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { ourWork } from '../confirmations/txs-in-memory.js';

const LEASE: Lease = { signer: aSigner(), owner: 'node', token: 1n };
const BATCH = 20;

/** The txs whose timer has run out, and as the signer's worker finds them. */
let due: ManagedTx[];
let read: ManagedTx[];
let leases: Lease[];
let calls: unknown[][];
let resend: ResendDue;

const aTx = (state: TxState, txId = 'tx'): ManagedTx => aManagedTx({ txId, state, nonce: 7n }).build();

beforeEach(() => {
  [due, read] = [[aTx('IN_MEMPOOL')], [aTx('IN_MEMPOOL')]];
  [leases, calls] = [[LEASE], []];
  resend = new ResendDue(
    { heldOn: () => leases } as unknown as LeaseManager,
    ourWork,
    {
      dueForResubmit: async (...args: unknown[]) => (calls.push(['due', ...args]), due),
      byIds: async (ids: readonly string[]) => (calls.push(['again', ...ids]), read),
    } as unknown as ManagedTxRepository,
    { execute: async (...args: unknown[]) => void calls.push(['resend', ...args]) } as unknown as ResendAttempts,
    {
      execute: async (chainId: number, signers: readonly unknown[]) => void calls.push(['gaps', chainId, ...signers]),
    } as unknown as FreeNonceGaps,
    Object.assign(new ExecutionConfig(), { batchSize: BATCH }),
  );
});

async function resent(): Promise<unknown> {
  await resend.execute(DEV_CHAIN);
  return calls.find(([name]) => name === 'resend')?.[3];
}

describe('what is sent again', () => {
  it('is what is due of the signers of this node, read again by the worker of the signer', async () => {
    await resend.execute(DEV_CHAIN);
    expect(calls).toEqual([
      ['due', DEV_CHAIN, [LEASE.signer], BATCH],
      ['again', 'tx'],
      ['resend', DEV_CHAIN, [LEASE], read],
      ['gaps', DEV_CHAIN, LEASE.signer],
    ]);
  });

  it.each<TxState>(['ALLOCATED', 'IN_MEMPOOL'])('is what has a nonce and is not mined: %s', async (state) => {
    read = [aTx(state)];
    expect(await resent()).toEqual(read);
  });

  it.each<TxState>(['PENDING', 'MINED', 'CONFIRMED', 'DROPPED'])(
    'is nothing that became %s meanwhile',
    async (state) => {
      read = [aTx(state, 'moved'), aTx('IN_MEMPOOL')];
      expect(await resent()).toEqual(read.slice(1));
    },
  );

  it('is nothing when nothing is due, and then no gap is looked for', async () => {
    due = [];
    await resend.execute(DEV_CHAIN);
    expect(calls).toEqual([
      ['due', DEV_CHAIN, [LEASE.signer], BATCH],
      ['gaps', DEV_CHAIN],
    ]);
  });

  it('costs no question while the node has no signer', async () => {
    leases = [];
    await resend.execute(DEV_CHAIN);
    expect(calls).toEqual([]);
  });
});
