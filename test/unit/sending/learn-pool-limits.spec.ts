import { beforeEach, describe, expect, it } from '@jest/globals';
import { IN_FLIGHT_START } from '../../../src/config/index.js';
import type { NodeErrorClass } from '../../../src/kernel/node-error-class.js';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import { LearnPoolLimits } from '../../../src/modules/sending/application/refusal-evidence.js';
import type { AnsweredSend } from '../../../src/modules/sending/application/send.js';
import type { SlotRef } from '../../../src/modules/signers/index.js';
import { type InFlightLimits, type TxsInFlight } from '../../../src/modules/ledger/index.js';
import { aLease, aManagedTx, anAttempt, aSigner } from '../../support/builders.js';
import { type InFlightAround } from '../../../src/modules/ledger/domain/txs-in-flight.js';
import { inFlightLimits } from '../../support/in-flight-limits.js';

const [A, B] = [aSigner(1), aSigner(2)];
const IN_POOL = 5;
const START = IN_FLIGHT_START;
const behind = (below: number): InFlightAround => ({ below, isPassed: false });

/** Slots of which was asked how many lower ones are in flight. */
let asked: SlotRef[];
let around: InFlightAround[];
let rung: SignerId[];
let limits: InFlightLimits;
let learn: LearnPoolLimits;

beforeEach(() => {
  [asked, around, rung, limits] = [[], [behind(IN_POOL)], [], inFlightLimits()];
  learn = new LearnPoolLimits(
    {
      inFlightAround: async (slots: readonly SlotRef[]) => (asked.push(...slots), around),
    } as unknown as TxsInFlight,
    limits,
    { ring: (signers: readonly SignerId[]) => void rung.push(...signers) },
  );
});

function answered(errorClass: NodeErrorClass | null, nonce: bigint, signer = A): AnsweredSend {
  const attempt = anAttempt({ signer, nonce });
  const status = errorClass === null ? 'ACCEPTED' : 'REJECTED';
  const outcome = { attempt, status, errorClass, error: errorClass, notSent: false, alone: false } as const;
  return { tx: aManagedTx({ signer }).allocated(nonce).build(), attempt, outcome };
}

const slotsAsked = (): unknown[] => asked.map(({ signer, nonce }) => ({ signer, nonce }));

describe('a refusal for a limit of the pool', () => {
  it.each(['account_limit', 'delegated_account_limit', 'txpool_full', 'nonce_too_high'] as const)(
    '(%s) teaches how many of the signer are in flight below the lowest that was refused; all wait for lower nonces',
    async (errorClass) => {
      const sends = [answered(null, 7n), answered(errorClass, 9n), answered(errorClass, 8n)];
      expect((await learn.execute(sends)).waiting).toEqual(new Set(sends.slice(1)));
      expect(slotsAsked()).toEqual([{ signer: A, nonce: 8n }]);
      expect(limits.of(A)).toBe(IN_POOL);
    },
  );

  it('of each signer teaches about this one alone', async () => {
    around = [behind(3), behind(4)];
    await learn.execute([answered('account_limit', 8n, A), answered('account_limit', 9n, B)]);
    expect([limits.of(A), limits.of(B)]).toEqual([3, 4]);
  });

  it('of the lowest nonce waits for no lower one; the others wait for this one', async () => {
    around = [behind(0)];
    const sends = [answered('account_limit', 8n), answered('account_limit', 9n)];
    expect((await learn.execute(sends)).waiting).toEqual(new Set(sends.slice(1)));
    expect(limits.of(A)).toBe(1);
  });

  it.each(['txpool_full', 'nonce_too_high'] as const)(
    '(%s) teaches nothing about a signer of which the pool has none',
    async (errorClass) => {
      around = [behind(0)];
      await learn.execute([answered(errorClass, 8n)]);
      expect(limits.of(A)).toBe(START);
    },
  );
});

it('a refusal is about the tx itself where the pool has a higher nonce of its signer', async () => {
  const send = answered('txpool_full', 8n);
  expect((await learn.execute([send])).passed).toEqual(new Set());
  around = [{ below: 0, isPassed: true }];
  expect((await learn.execute([send])).passed).toEqual(new Set([send]));
});

describe('what a pool takes again', () => {
  const again = (errorClass: NodeErrorClass | null, status: 'ACCEPTED' | 'UNKNOWN'): AnsweredSend => {
    const send = answered(errorClass, 8n);
    return { ...send, attempt: { ...send.attempt, status }, outcome: { ...send.outcome, error: null } };
  };

  it('was dropped by it, so it takes fewer', async () => {
    await learn.execute([again(null, 'ACCEPTED'), again(null, 'ACCEPTED')]);
    expect(limits.of(A)).toBe(START / 2);
  });

  it('has the lane send the others again', async () => {
    await learn.execute([again(null, 'ACCEPTED'), again(null, 'ACCEPTED')]);
    expect([rung, limits.mayResendDropped(aLease(A))]).toEqual([[A], true]);
  });

  it.each([
    ['is there still', again('already_known', 'ACCEPTED')],
    ['may never have reached it', again(null, 'UNKNOWN')],
  ])('teaches nothing when it %s', async (_what, send) => {
    await learn.execute([send]);
    expect(limits.of(A)).toBe(START);
    expect([rung, limits.mayResendDropped(aLease(A))]).toEqual([[], false]);
  });
});

describe('other answers', () => {
  it.each(['underpriced', 'insufficient_funds', 'oversized_data', 'transient'] as const)(
    '(%s) teach nothing, and cost no statement',
    async (errorClass) => {
      expect((await learn.execute([answered(errorClass, 8n)])).waiting).toEqual(new Set());
      expect([limits.of(A), asked, rung]).toEqual([START, [], []]);
    },
  );

  it('of a pool that takes a tx of a signer have those tried that it refused', async () => {
    limits.refused(A, 4);
    await learn.execute([answered(null, 8n), answered(null, 9n), answered(null, 8n, B)]);
    expect(rung).toEqual([A]);
  });

  it('do so only when it refuses none at the same time', async () => {
    limits.refused(A, 4);
    await learn.execute([answered(null, 8n), answered('account_limit', 9n)]);
    expect(rung).toEqual([]);
  });
});
