import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import {
  canTransition,
  isFinal,
  TX_STATES,
  type TxState,
} from '../../../src/modules/ledger/domain/tx-state-machine.js';
import { stateDiagram } from '../../support/state-diagram.js';

/** The table of design section 3, written a second time on purpose: a change of the code must be a change of mind. */
const ALLOWED: Record<TxState, string> = {
  PENDING: 'ALLOCATED FAILED CANCELLED REPLACED DROPPED',
  ALLOCATED: 'IN_MEMPOOL MINED PENDING FAILED CANCELLED REPLACED DROPPED',
  IN_MEMPOOL: 'MINED PENDING CANCELLED REPLACED DROPPED FAILED',
  MINED: 'CONFIRMED FAILED CANCELLED PENDING IN_MEMPOOL',
  CONFIRMED: 'IN_MEMPOOL',
  FAILED: 'IN_MEMPOOL',
  CANCELLED: 'IN_MEMPOOL',
  REPLACED: 'IN_MEMPOOL',
  DROPPED: 'IN_MEMPOOL',
};
const FINAL = ['CONFIRMED', 'FAILED', 'CANCELLED', 'REPLACED', 'DROPPED'];
const pairs = TX_STATES.flatMap((from) => TX_STATES.map((to): [TxState, TxState] => [from, to]));

describe('the state machine', () => {
  it.each(pairs)('%s -> %s is decided as docs/state-machine.md says', (from, to) => {
    expect(canTransition(from, to, true)).toBe(ALLOWED[from].split(' ').includes(to));
  });

  it.each(pairs)('%s -> %s never re-opens a final state that no block decided', (from, to) => {
    expect(canTransition(from, to, false)).toBe(ALLOWED[from].split(' ').includes(to) && !FINAL.includes(from));
  });

  it.each(TX_STATES.map((state): [TxState] => [state]))(
    '%s is final exactly when docs/state-machine.md says so',
    (state) => {
      expect(isFinal(state)).toBe(FINAL.includes(state));
    },
  );

  it('is drawn in docs/state-machine.md as it is in the code', () => {
    expect(readFileSync('docs/state-machine.md', 'utf8')).toContain(stateDiagram());
  });
});
