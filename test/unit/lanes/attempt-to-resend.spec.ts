import { expect, it } from '@jest/globals';
import { attemptToResend } from '../../../src/modules/lanes/application/resend-attempts.js';
import { type Attempt } from '../../../src/modules/ledger/domain/attempt.js';
import type { TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { aHash, aManagedTx, anAttempt } from '../../support/builders.js';
import { outcomeOf } from '../../../src/modules/sending/domain/send-verdict.js';

const CLOSING: Partial<TxProgress> = { closing: { as: 'FAILED', reason: 'refused', won: false } };

/** @returns which of the attempts, by its place */
function chosen(attempts: readonly Partial<Attempt>[], progress: Partial<TxProgress> = {}): number {
  const all = attempts.map((attempt, index) => anAttempt({ txHash: aHash(index), ...attempt }));
  const found = attemptToResend(aManagedTx({ state: 'IN_MEMPOOL', nonce: 7n, ...progress }).build(), all);
  return all.findIndex((attempt) => attempt === found);
}

const fees = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint) => ({ fees: { maxFeePerGas, maxPriorityFeePerGas } });

it('the attempt with the highest price goes out, wherever it is in the row', () => {
  expect(
    chosen([
      { status: 'ACCEPTED', ...fees(9n, 2n) },
      { status: 'UNKNOWN', ...fees(8n, 3n) },
    ]),
  ).toBe(0);
  expect(
    chosen([
      { status: 'ACCEPTED', ...fees(8n, 2n) },
      { status: 'UNKNOWN', ...fees(9n, 2n) },
    ]),
  ).toBe(1);
});

it('of equal fee caps the higher tip counts, and of equal prices the newer attempt', () => {
  expect(
    chosen([
      { status: 'ACCEPTED', ...fees(9n, 3n) },
      { status: 'ACCEPTED', ...fees(9n, 2n) },
    ]),
  ).toBe(0);
  expect(chosen([{ status: 'ACCEPTED' }, { status: 'ACCEPTED' }])).toBe(1);
});

it('a higher price that every node refused does not, while an earlier one may be out', () => {
  expect(
    chosen([
      { status: 'ACCEPTED', ...fees(8n, 2n) },
      { status: 'REJECTED', errorClass: 'underpriced', ...fees(9n, 2n) },
    ]),
  ).toBe(0);
});

it('a dearer bump that never left this node does not, when a newer one was sent: the market had fallen', () => {
  const dear = { status: 'UNSENT', ...fees(20n, 2n) } as const;
  expect(chosen([{ status: 'ACCEPTED', ...fees(8n, 2n) }, dear, { status: 'ACCEPTED', ...fees(9n, 3n) }])).toBe(2);
  expect(chosen([dear, { status: 'UNKNOWN', ...fees(9n, 3n) }])).toBe(1);
});

it('a bump that never left this node does, because no node refused it', () => {
  const bump = outcomeOf(anAttempt({ status: 'SIGNED' }), { kind: 'not_sent', message: 'held back' });
  expect(
    chosen([
      { status: 'ACCEPTED', ...fees(8n, 2n) },
      { status: bump.status, errorClass: bump.errorClass, ...fees(9n, 2n) },
    ]),
  ).toBe(1);
  const noOp = { kind: 'cancel', status: bump.status, errorClass: bump.errorClass, ...fees(9n, 2n) } as const;
  expect(chosen([{ status: 'ACCEPTED' }, { kind: 'cancel', status: 'ACCEPTED', ...fees(8n, 2n) }, noOp], CLOSING)).toBe(
    2,
  );
});

it('the newest goes out when every node refused them all', () => {
  expect(
    chosen([
      { status: 'REJECTED', errorClass: 'underpriced', ...fees(9n, 2n) },
      { status: 'REJECTED', errorClass: 'underpriced', ...fees(8n, 2n) },
    ]),
  ).toBe(1);
  expect(chosen([])).toBe(-1);
});

it('of a slot that is being closed the no-op goes out, also when the payload is dearer or the no-op was refused', () => {
  const payload = { status: 'ACCEPTED', ...fees(99n, 9n) } as const;
  for (const status of ['ACCEPTED', 'REJECTED'] as const)
    expect(chosen([payload, { kind: 'cancel', status }], CLOSING)).toBe(1);
  expect(chosen([payload], CLOSING)).toBe(-1);
});
