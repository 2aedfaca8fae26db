import { beforeEach, describe, expect, it } from '@jest/globals';
import { ResubmitConfig } from '../../../src/config/index.js';
import type { NodeErrorClass } from '../../../src/kernel/node-error-class.js';
import { ClassifySends } from '../../../src/modules/sending/application/classify-sends.js';
import type { LearnPoolLimits } from '../../../src/modules/sending/application/refusal-evidence.js';
import type { FeeRules } from '../../../src/modules/sending/application/fee-rules.js';
import type { SendVerdict } from '../../../src/modules/sending/domain/send-verdict.js';
import type { Attempt, AttemptRepository } from '../../../src/modules/ledger/index.js';
import type { TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { refusalEvidence } from '../../support/refusals.js';
import { aHash, aManagedTx, anAttempt } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { ModelChain } from '../../support/model-chain.js';

const ORIGINAL = anAttempt({ txId: 'original', txHash: aHash(1), status: 'ACCEPTED' });
const REPLACEMENT = anAttempt({ txId: 'replacement', txHash: aHash(2) });

/** All attempts of the slot. */
let ofSlot: Attempt[];
let classify: ClassifySends;

beforeEach(() => {
  const clock = new FakeClock();
  ofSlot = [ORIGINAL, REPLACEMENT];
  const config = Object.assign(new ResubmitConfig(), { maxRefusals: 3 });
  classify = new ClassifySends(
    { ofSlots: async () => ofSlot } as unknown as AttemptRepository,
    refusalEvidence(() => 10n ** 24n, config, clock),
    { learnLimit: () => undefined } as unknown as FeeRules,
    { execute: async () => ({ waiting: new Set(), passed: new Set() }) } as unknown as LearnPoolLimits,
    config,
    clock,
  );
});

/** What the refusal of the replacement by every endpoint means. */
async function refused(
  progress: Partial<TxProgress> = {},
  errorClass: NodeErrorClass = 'oversized_data',
): Promise<SendVerdict | undefined> {
  const whole = { txId: 'replacement', state: 'ALLOCATED', nonce: 7n, replaces: 'original', ...progress } as const;
  const outcome = { status: 'REJECTED', errorClass, error: 'words of the node', notSent: false, alone: false } as const;
  const send = { tx: aManagedTx(whole).build(), attempt: REPLACEMENT, outcome: { attempt: REPLACEMENT, ...outcome } };
  return (await classify.execute(new ModelChain(), [send]))[0]?.verdict;
}

describe('a replacement that every endpoint refused for good', () => {
  it.each<Attempt['status']>(['SIGNED', 'REJECTED', 'ACCEPTED', 'UNKNOWN'])(
    'is withdrawn with the words of the node, and the original goes on: %s',
    async (status) => {
      ofSlot = [{ ...ORIGINAL, status }, REPLACEMENT];
      expect(await refused()).toEqual({ kind: 'withdrawn', reason: 'words of the node' });
    },
  );

  it('is withdrawn also after several prices that every endpoint refused', async () => {
    ofSlot = [ORIGINAL, { ...REPLACEMENT, txHash: aHash(3), status: 'REJECTED' }, REPLACEMENT];
    expect(await refused()).toMatchObject({ kind: 'withdrawn' });
  });

  it('has its slot closed when nothing of the original was sent: it ended, and nobody else would hold the slot', async () => {
    ofSlot = [{ ...ORIGINAL, status: 'UNSENT' }, REPLACEMENT];
    expect(await refused()).toMatchObject({ kind: 'refused' });
  });

  it('has its slot closed when another attempt of its own may be out', async () => {
    ofSlot = [ORIGINAL, { ...REPLACEMENT, txHash: aHash(3), status: 'UNKNOWN' }, REPLACEMENT];
    expect(await refused()).toMatchObject({ kind: 'refused' });
  });

  it('has its slot closed once it was in the mempool itself', async () => {
    expect(await refused({ state: 'IN_MEMPOOL' })).toMatchObject({ kind: 'refused' });
  });

  it('has its slot closed when what may be out is of no tx of its race: nobody else would hold the slot', async () => {
    // The original had another slot.
    ofSlot = [{ ...ORIGINAL, txId: 'stranger' }, { ...ORIGINAL, txHash: aHash(5), nonce: 6n }, REPLACEMENT];
    expect(await refused()).toMatchObject({ kind: 'refused' });
  });

  it('is withdrawn when the one that it replaces was refused, too, and only the first of the race may be out', async () => {
    const second = anAttempt({ txId: 'original', txHash: aHash(4), status: 'REJECTED' });
    ofSlot = [{ ...ORIGINAL, txId: 'first' }, second, REPLACEMENT];
    expect(await refused()).toMatchObject({ kind: 'withdrawn' });
  });
});

it('a replacement that was refused for its price again and again is withdrawn, and never waits for another nonce', async () => {
  expect(await refused({ subState: 'FEE_CAPPED', tries: 99 }, 'underpriced')).toMatchObject({ kind: 'withdrawn' });
});

it('a tx that replaces nothing has its slot closed, also beside an attempt of another tx', async () => {
  ofSlot = [{ ...ORIGINAL, txId: 'stranger' }, REPLACEMENT];
  expect(await refused({ replaces: null })).toMatchObject({ kind: 'refused' });
});
