import { describe, expect, it } from '@jest/globals';
import { parseHex } from '../../../src/kernel/hex.js';
import {
  awaitedPermits,
  fitsPlaces,
  PERMIT_PARTS,
  type PermitPlace,
  unsignedPermit,
  withoutPermits,
  withPermits,
} from '../../../src/modules/ledger/domain/permit.js';
import { aHash } from '../../support/builders.js';
import { aMadePermit, aPermit } from '../../support/permit-builders.js';

const EMPTY = parseHex(`0x${'00'.repeat(200)}`);
const R = aHash(0xaa);
const S = aHash(0xbb);
const MADE = aMadePermit({ permitNonce: 0x1234n, deadline: 0x6789n, signature: { r: R, s: S, yParity: 1 } });
const place = (part: PermitPlace['part'], at: number, bytes: number): PermitPlace => ({ part, at, bytes });
const filled = (...places: readonly PermitPlace[]) => withPermits(EMPTY, [aPermit({ places, made: MADE })]);
const at = (data: string, from: number, bytes: number): string => data.slice(2 + 2 * from, 2 + 2 * (from + bytes));

describe('the data of a call', () => {
  it('has each part of a permit in its place, and nothing else', () => {
    const expected = { v: '001c', r: R.slice(2), s: S.slice(2), nonce: '001234', deadline: '0000006789' };
    for (const [part, digits] of Object.entries(expected)) {
      const bytes = digits.length / 2;
      const data = filled(place(part as PermitPlace['part'], 7, bytes));
      expect(at(data, 7, bytes)).toBe(digits);
      expect(data.length).toBe(EMPTY.length);
      expect(BigInt(`0x${data.slice(2, 16)}${data.slice(16 + digits.length)}`)).toBe(0n);
    }
    expect(at(filled(place('signature', 3, 65)), 3, 65)).toBe(`${R.slice(2)}${S.slice(2)}1c`);
    const even = aMadePermit({ signature: { r: R, s: S, yParity: 0 } });
    expect(at(withPermits(EMPTY, [aPermit({ places: [place('v', 9, 1)], made: even })]), 9, 1)).toBe('1b');
  });

  it('has several permits, and zeros for those that are not made', () => {
    const made = aPermit({ places: [place('r', 0, 32), place('s', 32, 32)], made: MADE });
    const awaited = aPermit({ places: [place('r', 64, 32)] });
    const data = withPermits(EMPTY, [made, awaited]);
    expect([at(data, 0, 64), at(data, 64, 136)]).toEqual([`${R.slice(2)}${S.slice(2)}`, '00'.repeat(136)]);
    expect(awaitedPermits([made, awaited])).toEqual([awaited]);
    expect([awaitedPermits(), withPermits(EMPTY), withoutPermits(EMPTY)]).toEqual([[], EMPTY, EMPTY]);
  });

  it('is the same without its permits, whichever were made for it', () => {
    const template = parseHex(`0x12345678${'00'.repeat(65)}ff`);
    const permit = aPermit({ places: [place('signature', 4, 65)] });
    const [one, another] = [MADE, aMadePermit({ permitNonce: 1n, signature: { r: S, s: R, yParity: 0 } })].map((made) =>
      withPermits(template, [{ ...permit, made }]),
    );
    expect(one).not.toBe(another);
    expect([one, another].map((data) => withoutPermits(data ?? EMPTY, [permit]))).toEqual([template, template]);
  });

  it('that ends before a place stays as it is', () => {
    const short = parseHex('0x12345678aa');
    const permit = aPermit({ places: [place('v', 4, 2)], made: MADE });
    expect([withPermits(short, [permit]), withoutPermits(short, [permit])]).toEqual([short, short]);
  });
});

it('a part that does not fit its place is never written, so that nothing behind it moves', () => {
  const wide = aPermit({ places: [place('nonce', 0, 6)] });
  const [fits, doesNot] = [(1n << 48n) - 1n, 1n << 48n].map((permitNonce) => aMadePermit({ permitNonce }));
  if (!fits || !doesNot) throw new Error('no permits');
  expect([fitsPlaces(fits, wide), fitsPlaces(doesNot, wide)]).toEqual([true, false]);
  expect(at(withPermits(EMPTY, [{ ...wide, made: fits }]), 0, 7)).toBe(`${'ff'.repeat(6)}00`);
  expect(() => withPermits(EMPTY, [{ ...wide, made: doesNot }])).toThrow('does not fit its place');
});

it.each([
  ['signature', 65],
  ['r', 32],
] as const)('a call lacks a permit while there are zeros in the place of its %s', (part, bytes) => {
  const [first, second] = [
    aPermit({ places: [place('v', 0, 1), place(part, 1, bytes)], made: MADE }),
    aPermit({ places: [place(part, 100, bytes)] }),
  ];
  const permits = [first, second];
  const data = withPermits(EMPTY, permits);
  expect(unsignedPermit({ data: EMPTY, permits })).toBe(first);
  expect(unsignedPermit({ data, permits })).toBe(second);
  // As it was sent, while what was made of it is lost.
  expect(unsignedPermit({ data: withPermits(data, [{ ...second, made: MADE }]), permits })).toBeUndefined();
  expect(unsignedPermit({ data: EMPTY })).toBeUndefined();
});

it('a permit has no parts but those of its signature, its nonce and its deadline', () => {
  expect(PERMIT_PARTS).toEqual(['v', 'r', 's', 'signature', 'nonce', 'deadline']);
});
