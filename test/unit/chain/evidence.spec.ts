import { describe, expect, it } from '@jest/globals';
import { parseHash } from '../../../src/kernel/hex.js';
import {
  agreedUpon,
  EVIDENCE,
  isLaterObservation,
  observationsNeeded,
  sufficient,
} from '../../../src/modules/chain/domain/evidence.js';

const HASH = parseHash(`0x${'ab'.repeat(32)}`);

describe('the evidence that an irreversible decision needs', () => {
  it('is a word from every endpoint before a payload moves', () => {
    expect(sufficient('move_payload', ['gone', 'gone', 'gone'])).toEqual(['gone', 'gone', 'gone']);
    expect(sufficient('move_payload', ['gone', 'gone', null])).toBeNull();
    expect(sufficient('move_payload', [])).toBeNull();
  });

  it.each([
    'fail_payload',
    'raise_cursor',
    'hold_signer',
    'make_final',
    'reopen_final',
    'sign_fee',
    'judge_permit',
  ] as const)('is a word from half of the endpoints for %s, so that a dead one alone stops nothing', (decision) => {
    expect(sufficient(decision, ['a', null])).toEqual(['a']);
    expect(sufficient(decision, ['a', 'b', null])).toEqual(['a', 'b']);
    expect(sufficient(decision, ['a', null, null])).toBeNull();
    expect(sufficient(decision, [null])).toBeNull();
    expect(sufficient(decision, [])).toBeNull();
  });

  it('is void when speakers contradict each other, unless more than half of all endpoints agree', () => {
    const said = (...words: (string | null)[]) => agreedUpon('make_final', words)?.value ?? null;
    expect(said('a', 'a', null)).toBe('a');
    expect(said('a', 'b', 'a')).toBe('a');
    expect(said('a', 'b')).toBeNull();
    expect(said('a', 'b', null)).toBeNull();
    expect(said('a', 'a', 'b', 'b')).toBeNull();
    expect(said(null, null)).toBeNull();
  });

  it('says when one endpoint spoke alone', () => {
    expect(agreedUpon('make_final', ['a'])).toEqual({ value: 'a', isAlone: true });
    expect(agreedUpon('make_final', ['a', null])).toEqual({ value: 'a', isAlone: true });
    expect(agreedUpon('make_final', ['a', 'a', null])).toEqual({ value: 'a', isAlone: false });
    expect(agreedUpon('make_final', ['b', 'a', 'a'])).toEqual({ value: 'a', isAlone: false });
  });

  it('needs a look at a later block wherever one look may be a moment of confusion', () => {
    const decisions = Object.keys(EVIDENCE) as (keyof typeof EVIDENCE)[];
    const twice = (isAlone: boolean) => decisions.filter((decision) => observationsNeeded(decision, isAlone) === 2);
    const always = ['move_payload', 'release_hold', 'fail_payload', 'raise_cursor', 'hold_signer'];
    expect(twice(false).sort()).toEqual([...always].sort());
    expect(twice(true).sort()).toEqual([...always, 'make_final', 'reopen_final', 'judge_permit'].sort());
    const at = (number: number) => ({ number, hash: HASH });
    expect(isLaterObservation(at(7), at(7))).toBe(false);
    expect(isLaterObservation(at(7), at(8))).toBe(true);
  });
});
