import { beforeEach, describe, expect, it } from '@jest/globals';
import { ExecutionConfig } from '../../../src/config/index.js';
import { sameSigner } from '../../../src/kernel/signer-id.js';
import type { ResendAttempts } from '../../../src/modules/lanes/application/resend-attempts.js';
import { ResendLimited } from '../../../src/modules/lanes/application/resend-limited.js';
import {
  InFlightLimits,
  type ManagedTx,
  type ManagedTxRepository,
  type SignerRoom,
} from '../../../src/modules/transactions/index.js';
import { aManagedTx, aSigner, DEV_CHAIN } from '../../support/builders.js';

const [A, B] = [aSigner(1), aSigner(2)];
const LEASES = [A, B].map((signer) => ({ signer, owner: 'node', token: 1n }));
const LIMIT = 5;

let waiting: ManagedTx[];
/** In flight below the lowest that waits. */
let below: number;
let reads: SignerRoom[];
let resent: ManagedTx[];
let limits: InFlightLimits;
let resend: ResendLimited;

beforeEach(() => {
  [waiting, below, reads, resent] = [[], 3, [], []];
  limits = new InFlightLimits(new ExecutionConfig());
  resend = new ResendLimited(
    limits,
    {
      waitingForPool: async (wanted: readonly SignerRoom[]) => {
        reads.push(...wanted);
        return waiting.filter((tx) => wanted.some(({ signer }) => sameSigner(signer, tx.signer)));
      },
      inFlightAround: async (slots: readonly unknown[]) => slots.map(() => ({ below, isPassed: false })),
    } as unknown as ManagedTxRepository,
    {
      execute: async (_chain: number, _leases: unknown, txs: readonly ManagedTx[]) => void resent.push(...txs),
    } as unknown as ResendAttempts,
  );
  limits.refused(A, LIMIT - 1);
});

const waits = (nonce: bigint, signer = A): ManagedTx =>
  aManagedTx({ signer, state: 'ALLOCATED', subState: 'POOL_LIMIT', nonce }).build();
const execute = (): Promise<void> => resend.execute(DEV_CHAIN, LEASES);

describe('txs that a pool refused', () => {
  it('are not even read before there may be room', async () => {
    waiting = [waits(3n)];
    await execute();
    expect([reads, resent]).toEqual([[], []]);
  });

  it('go again when txs were mined: lowest nonces first, as many as the limit leaves room for', async () => {
    waiting = [waits(3n), waits(4n), waits(5n), waits(6n)];
    limits.madeRoom([A, B]);
    await execute();
    expect(resent).toEqual(waiting.slice(0, LIMIT - below));
    expect(reads).toEqual([{ signer: A, room: LIMIT }]);
  });

  it('stay where the pool has all that it takes', async () => {
    [waiting, below] = [[waits(7n)], LIMIT];
    limits.madeRoom([A]);
    await execute();
    expect(resent).toEqual([]);
  });

  it('are read once for each time that there may be room, and no more when none is left', async () => {
    waiting = [waits(3n)];
    limits.madeRoom([A]);
    await execute();
    await execute();
    expect(reads).toHaveLength(1);
    waiting = [];
    limits.madeRoom([A]);
    await execute();
    limits.madeRoom([A]);
    await execute();
    expect(reads).toHaveLength(2);
  });
});
