import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ChainConnector, FeeQuote } from '../../../src/modules/chain/index.js';
import type { NonceLedger, SlotRef } from '../../../src/modules/signers/index.js';
import { type AttemptDraft, NotEncodable } from '../../../src/modules/sending/application/attempt-signer.js';
import type { FeeRules } from '../../../src/modules/sending/application/fee-rules.js';
import { LaneMemory } from '../../../src/modules/transactions/application/writing/lane-memory.js';
import { SignAttempts, type SignedTx } from '../../../src/modules/sending/application/sign-attempts.js';
import type { TxMetrics } from '../../../src/modules/transactions/application/writing/tx-metrics.js';
import type { Attempt } from '../../../src/modules/transactions/domain/attempt.js';
import type { ManagedTx } from '../../../src/modules/transactions/domain/managed-tx.js';
import type { AttemptRepository, ManagedTxRepository } from '../../../src/modules/transactions/index.js';
import { aManagedTx, anAttempt, aRequest, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { UnfencedWork } from '../../support/fakes/unfenced-work.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const SIGNER = aSigner();
const LEASE = { signer: SIGNER, owner: 'node', token: 1n };
/** Cannot be encoded. */
const POISON = 6n;

let memory: LaneMemory;
let released: SlotRef[];
let saved: ManagedTx[];
let noted: ManagedTx[];
let stored: Attempt[];
let steps: string[];
/** What the database says to a nonce. */
let store: (nonce: bigint) => void;
let signing: () => void;
let work: UnfencedWork;
let sign: SignAttempts;

beforeEach(() => {
  [released, saved, noted, stored, steps] = [[], [], [], [], []];
  [store, signing] = [() => undefined, () => undefined];
  work = new UnfencedWork();
  memory = new LaneMemory(new FakeClock());
  // There is no hole as far as the lane knows.
  memory.gapsChecked([LEASE], new Set());
  const signer = {
    sign: async (drafts: readonly AttemptDraft[]) => {
      signing();
      if (drafts.some(({ nonce }) => nonce === POISON)) throw new NotEncodable(new RangeError('no such number'));
      return drafts.map((draft) => anAttempt(draft));
    },
  };
  sign = new SignAttempts(
    signer,
    work,
    {
      insert: async (_fence: unknown, attempts: readonly Attempt[]) => {
        for (const { nonce } of attempts) store(nonce);
        stored.push(...attempts);
      },
    } as unknown as AttemptRepository,
    {
      save: async (_fence: unknown, txs: readonly ManagedTx[]) => void saved.push(...txs),
      note: async (_fence: unknown, txs: readonly ManagedTx[]) => void noted.push(...txs),
    } as unknown as ManagedTxRepository,
    {
      release: async (_fence: unknown, slots: readonly SlotRef[]) => void released.push(...slots),
    } as unknown as NonceLedger,
    memory,
    { clamped: () => ({ maxFeePerGas: 2n, maxPriorityFeePerGas: 1n }) } as unknown as FeeRules,
    { entered: () => undefined } as unknown as TxMetrics,
    { reached: (point: string) => void steps.push(point) },
    new RecordingLog(),
  );
});

function signAt(...nonces: readonly bigint[]): Promise<SignedTx[]> {
  const allocated = nonces.map((nonce) => ({
    tx: aManagedTx({ txId: `tx-${nonce}`, state: 'ALLOCATED', nonce, gasLimit: 21_000n }).build(),
    request: aRequest(),
  }));
  return sign.execute({ chainId: DEV_CHAIN } as ChainConnector, {} as FeeQuote, [LEASE], allocated);
}

describe('a tx that can never be signed', () => {
  it('fails, frees its slot, and does not keep its neighbours from being signed', async () => {
    const signed = await signAt(5n, POISON, 7n);
    expect(signed.map(({ attempt }) => attempt.nonce)).toEqual([5n, 7n]);
    expect(saved).toMatchObject([{ id: 'tx-6', state: 'FAILED' }]);
    expect(released).toEqual([{ signer: SIGNER, nonce: POISON }]);
  });

  it('leaves a hole that the lane looks after', async () => {
    await signAt(5n);
    expect(memory.mayHaveGaps(LEASE)).toBe(false);
    await signAt(POISON, 7n);
    expect(memory.mayHaveGaps(LEASE)).toBe(true);
  });
});

describe('what is signed', () => {
  it('is stored before it is given away, and leaves the row of its tx as it is', async () => {
    const signed = await signAt(5n);
    expect(steps).toEqual(['after_sign', 'after_persist']);
    expect([stored, noted]).toEqual([signed.map(({ attempt }) => attempt), signed.map(({ tx }) => tx)]);
    expect([saved, released, work.tokens]).toEqual([[], [], [[1n]]]);
    expect(stored).toMatchObject([{ txId: 'tx-5', nonce: 5n, kind: 'payload', gasLimit: 21_000n }]);
  });

  it('is given away only as far as the database took it; the rest keeps its slot, and the lane looks again', async () => {
    store = (nonce) => {
      if (nonce === 5n) throw new Error('cannot be stored');
    };
    memory.recovered([LEASE]);
    const signed = await signAt(5n, 7n);
    expect(signed.map(({ attempt }) => attempt.nonce)).toEqual([7n]);
    expect([released, saved, memory.needsRecovery(LEASE)]).toEqual([[], [], true]);
  });

  it('is nothing when the keys cannot be reached: that ends no tx', async () => {
    signing = () => {
      throw new Error('custody is away');
    };
    await expect(signAt(5n)).rejects.toThrow('custody is away');
    expect([saved, released]).toEqual([[], []]);
  });

  it('is nothing when nothing is to be signed', async () => {
    expect([await signAt(), steps, work.tokens]).toEqual([[], [], []]);
  });
});
