import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { ACTION, actionOf } from '../../../src/modules/chain/domain/node-error-action.js';
import { NODE_ERROR_CLASSES, type NodeErrorClass } from '../../../src/kernel/node-error-class.js';

interface ClassRow {
  readonly class: NodeErrorClass;
  readonly broadcast: string;
  readonly nonce: string;
  readonly action: string;
}

const CLASSES: readonly ClassRow[] = JSON.parse(
  readFileSync(new URL('../../data/node-error-classes.json', import.meta.url), 'utf8'),
);

describe('what a node error means for the send', () => {
  it('is decided for every class of the catalogue, and for no other', () => {
    expect(CLASSES.map((row) => row.class).sort()).toEqual([...NODE_ERROR_CLASSES].sort());
    expect(Object.keys(ACTION).sort()).toEqual([...NODE_ERROR_CLASSES].sort());
  });

  it.each(CLASSES)('$class: $broadcast', (row) => {
    const { outcome } = actionOf(row.class);
    if (row.broadcast.startsWith('accepted')) expect(outcome).toBe('accepted');
    else expect(outcome).not.toBe('accepted');
    if (/UNKNOWN|ambiguous|maybe accepted/.test(row.broadcast)) expect(outcome).toBe('unknown');
  });

  it('never says rejected when the nonce is or may be occupied', () => {
    const occupied = CLASSES.filter(
      (row) => /^(assume )?(occupied|consumed)/.test(row.nonce) && row.class !== 'terminally_stuck',
    );
    expect(occupied.length).toBeGreaterThan(8);
    for (const row of occupied) expect([row.class, actionOf(row.class).outcome]).not.toEqual([row.class, 'rejected']);
  });

  it.each<NodeErrorClass>(['nonce_too_low', 'replaced_by_other', 'replacement_underpriced'])(
    '%s asks for receipts first',
    (errorClass) => {
      expect(actionOf(errorClass)).toMatchObject({ outcome: 'unknown', response: 'check_receipts' });
    },
  );

  it.each<NodeErrorClass>(['already_known', 'nonce_too_low', 'underpriced', 'txpool_full', 'rate_limited'])(
    'calls no operator for %s, which happens every day',
    (errorClass) => expect(actionOf(errorClass).alert).toBe(false),
  );

  it('alerts where the catalogue wants an operator', () => {
    for (const row of CLASSES.filter(({ action }) => /alert|config fault|misconfigured/.test(action))) {
      if (row.class === 'underpriced') continue; // only when the fee cap is reached, which the lane knows
      expect([row.class, actionOf(row.class).alert]).toEqual([row.class, true]);
    }
  });
});
