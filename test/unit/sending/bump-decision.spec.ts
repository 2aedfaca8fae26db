import { describe, expect, it } from '@jest/globals';
import { isBumpable } from '../../../src/modules/sending/domain/bump-decision.js';
import type { TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { aManagedTx } from '../../support/builders.js';
import { type AttemptKind } from '../../../src/modules/ledger/domain/attempt.js';

describe('another price can help', () => {
  const can = (progress: Partial<TxProgress>, kind: AttemptKind = 'payload'): boolean =>
    isBumpable(aManagedTx({ state: 'IN_MEMPOOL', nonce: 7n, ...progress }).build(), { kind });

  it.each<Partial<TxProgress>>([{}, { subState: 'STALE' }, { subState: 'FEE_CAPPED' }, { replaces: 'original' }])(
    'what is in a pool: %p',
    (progress) => {
      expect(can(progress)).toBe(true);
    },
  );

  it.each<Partial<TxProgress>>([
    { state: 'ALLOCATED' },
    { state: 'MINED' },
    { subState: 'INSUFFICIENT_FUNDS' },
    { subState: 'NODE_REFUSED' },
    { subState: 'POOL_LIMIT' },
    { replacedBy: 'replacement' },
    { replaces: 'original', subState: 'REPLACING' },
  ])('nothing else: %p', (progress) => {
    expect(can(progress)).toBe(false);
  });

  it('the no-op that closes a slot, and not the payload in it', () => {
    const closing = { closing: { as: 'CANCELLED', reason: 'cancelled', won: false } } as const;
    expect([can(closing, 'cancel'), can(closing)]).toEqual([true, false]);
  });
});
