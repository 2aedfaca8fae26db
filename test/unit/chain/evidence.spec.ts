import { describe, expect, it } from '@jest/globals';
import { parseHash } from '../../../src/kernel/hex.js';
import { agreedUpon, completes, EVIDENCE, sufficient } from '../../../src/modules/chain/domain/evidence.js';

const HASH = parseHash(`0x${'ab'.repeat(32)}`);

describe('the evidence that an irreversible decision needs', () => {
  it('is a word from every endpoint before a payload moves', () => {
    expect(sufficient('move_payload', ['gone', 'gone', 'gone'])).toEqual(['gone', 'gone', 'gone']);
    expect(sufficient('move_payload', ['gone', 'gone', null])).toBeNull();
    expect(sufficient('move_payload', [])).toBeNull();
  });

  it.each(['fail_payload', 'raise_cursor', 'make_final', 'reopen_final', 'sign_fee'] as const)(
    'is a word from half of the endpoints for %s, so that a dead one alone stops nothing',
    (decision) => {
      expect(sufficient(decision, ['a', null])).toEqual(['a']);
      expect(sufficient(decision, ['a', 'b', null])).toEqual(['a', 'b']);
      expect(sufficient(decision, ['a', null, null])).toBeNull();
      expect(sufficient(decision, [null])).toBeNull();
      expect(sufficient(decision, [])).toBeNull();
    },
  );

  it('is void when speakers contradict each other, unless more than half of all endpoints agree', () => {
    expect(agreedUpon('make_final', ['a', 'a', null])).toBe('a');
    expect(agreedUpon('make_final', ['a', 'b', 'a'])).toBe('a');
    expect(agreedUpon('make_final', ['a', 'b'])).toBeNull();
    expect(agreedUpon('make_final', ['a', 'b', null])).toBeNull();
    expect(agreedUpon('make_final', ['a', 'a', 'b', 'b'])).toBeNull();
    expect(agreedUpon('make_final', [null, null])).toBeNull();
  });

  it('needs a look at a later block wherever one look may be a moment of confusion', () => {
    const twice = Object.entries(EVIDENCE).flatMap(([decision, { looks }]) => (looks === 2 ? [decision] : []));
    expect(twice).toEqual(['move_payload', 'fail_payload', 'raise_cursor']);
    const at = (number: number) => ({ number, hash: HASH });
    expect(completes('raise_cursor', at(7), at(7))).toBe(false);
    expect(completes('raise_cursor', at(7), at(8))).toBe(true);
    expect(completes('make_final', at(7), at(7))).toBe(true);
  });
});
