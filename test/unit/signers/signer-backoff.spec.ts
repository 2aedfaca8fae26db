import { beforeEach, describe, expect, it } from '@jest/globals';
import { SignerBackoff } from '../../../src/modules/signers/application/signer-backoff.js';
import { aSigner } from '../../support/builders.js';

let troubled: SignerBackoff;

beforeEach(() => {
  troubled = new SignerBackoff();
});

/** How long after a failure at 1,000 ms the signer is left alone. */
function pauseAfter(failures: number): number {
  for (let n = 0; n < failures; n += 1) troubled.failed(aSigner(1), 1_000);
  let pause = 0;
  while (troubled.isPaused(aSigner(1), 1_000 + pause)) pause += 500;
  return pause;
}

describe('a signer in trouble', () => {
  it('works alone, and at once, while it is not known whose trouble it is', () => {
    troubled.doubt(aSigner(1));
    expect(troubled.has(aSigner(1))).toBe(true);
    expect(troubled.isPaused(aSigner(1), 0)).toBe(false);
    expect(troubled.has(aSigner(2))).toBe(false);
    expect(troubled.isPaused(aSigner(2), 0)).toBe(false);
  });

  it.each([
    [1, 1_000],
    [2, 2_000],
    [3, 4_000],
    [6, 32_000],
    [7, 60_000],
    [2_000, 60_000],
  ])('rests after its failure number %d for %d ms', (failures, pause) => {
    expect(pauseAfter(failures)).toBe(pause);
  });

  it('keeps the number of its failures while it is in doubt, and may try', () => {
    troubled.failed(aSigner(1), 1_000);
    troubled.doubt(aSigner(1));
    expect(troubled.isPaused(aSigner(1), 1_000)).toBe(false);
    expect(pauseAfter(1)).toBe(2_000);
  });

  it('is forgotten when it succeeds, and no other', () => {
    troubled.failed(aSigner(1), 1_000);
    troubled.failed(aSigner(2), 1_000);
    troubled.succeeded([aSigner(1), aSigner(3)]);
    expect(troubled.has(aSigner(1))).toBe(false);
    expect(troubled.has(aSigner(2))).toBe(true);
    expect(pauseAfter(1)).toBe(1_000);
  });
});
