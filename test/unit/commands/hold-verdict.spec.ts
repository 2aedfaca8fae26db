import { describe, expect, it } from '@jest/globals';
import { commandVerdict } from '../../../src/modules/commands/domain/command-verdict.js';
import { CHANGE_KINDS, type CommandKind, HOLD_COMMAND_KINDS } from '../../../src/modules/commands/domain/tx-command.js';
import type { TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { TX_STATES, type TxState } from '../../../src/modules/ledger/domain/tx-state-machine.js';
import { aHash, aManagedTx } from '../../support/builders.js';

const NAMED = aHash(7);

/** Of a release, a consume that names what is known, a consume that names something else, an extend, and a close. */
const TABLE = {
  PENDING: ['at_once', 'no_nonce_yet', 'no_nonce_yet', 'by_owner', 'at_once'],
  ALLOCATED: ['by_owner', 'by_owner', 'by_owner', 'by_owner', 'by_owner'],
  IN_MEMPOOL: ['already_used', 'done', 'by_owner', 'already_used', 'by_owner'],
  MINED: ['already_mined', 'done', 'other_is_mined', 'already_mined', 'already_mined'],
  CONFIRMED: ['already_final', 'done', 'used_by_other', 'already_final', 'already_final'],
  FAILED: ['already_final', 'done', 'used_by_other', 'already_final', 'already_final'],
  CANCELLED: ['done', 'already_final', 'already_final', 'already_final', 'done'],
  REPLACED: ['already_final', 'already_final', 'already_final', 'already_final', 'already_final'],
  DROPPED: ['already_final', 'already_final', 'already_final', 'already_final', 'already_final'],
} as const satisfies Record<TxState, readonly string[]>;

function verdictsOn(progress: Partial<TxProgress>): string[] {
  const tx = aManagedTx({ kind: 'hold', nonce: progress.state === 'PENDING' ? null : 7n, ...progress }).build();
  return (
    [
      ['release', null],
      ['consume', NAMED],
      ['consume', aHash(8)],
      ['extend', null],
      ['close', null],
    ] as const
  ).map(([kind, hash]) => {
    const verdict = commandVerdict(kind, tx, hash);
    return verdict.kind === 'refused' ? verdict.code : verdict.kind;
  });
}

describe('what becomes of what an outside sender says about its hold', () => {
  it.each(TX_STATES)('that is %s', (state) => {
    expect(verdictsOn({ state, txHash: NAMED })).toEqual(TABLE[state]);
  });

  it('that is closed already: a close is done, and nothing else changes', () => {
    const closing = { as: 'CANCELLED', reason: 'closed', won: false } as const;
    expect(verdictsOn({ state: 'IN_MEMPOOL', closing })).toEqual([
      'already_used',
      'by_owner',
      'by_owner',
      'already_used',
      'done',
    ]);
  });

  it('that ended before it had a nonce: nothing is used by it', () => {
    expect(verdictsOn({ state: 'FAILED', nonce: null, txHash: null })[1]).toBe('already_final');
  });
});

it('no other tx is a hold, and a hold is no payload', () => {
  const codes = (kind: 'payload' | 'fill' | 'hold', kinds: readonly CommandKind[]) =>
    kinds.map((command) => {
      const verdict = commandVerdict(command, aManagedTx({ kind, state: 'ALLOCATED', nonce: 7n }).build(), NAMED);
      return verdict.kind === 'refused' ? verdict.code : verdict.kind;
    });
  expect(new Set(codes('payload', HOLD_COMMAND_KINDS))).toEqual(new Set(['not_a_hold']));
  expect(new Set(codes('fill', HOLD_COMMAND_KINDS))).toEqual(new Set(['not_a_hold']));
  expect(codes('hold', CHANGE_KINDS)).toEqual(['not_a_payload', 'not_a_payload', 'not_a_payload']);
});
