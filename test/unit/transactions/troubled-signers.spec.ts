import { beforeEach, describe, expect, it } from '@jest/globals';
import { TroubledSigners } from '../../../src/modules/transactions/application/troubled-signers.js';
import { aSigner } from '../../support/builders.js';

const [A, B, C] = [aSigner(1), aSigner(2), aSigner(3)];
/** Milliseconds; the first time of each test. */
const NOW = 1_000_000;

describe('a signer in trouble', () => {
  let troubled: TroubledSigners;

  beforeEach(() => {
    troubled = new TroubledSigners();
  });

  it('pauses for a second, twice as long after each failure, and a minute at most', () => {
    const pauses = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000];
    for (const pause of pauses) {
      troubled.failed(A, NOW);
      expect(troubled.isPaused(A, NOW + pause - 1)).toBe(true);
      expect(troubled.isPaused(A, NOW + pause)).toBe(false);
    }
  });

  it('pauses no longer, and works alone, when everybody may be in trouble', () => {
    troubled.failed(A, NOW);
    troubled.doubt(A);
    troubled.doubt(B);
    expect([A, B, C].map((signer) => [troubled.has(signer), troubled.isPaused(signer, NOW)])).toEqual([
      [true, false],
      [true, false],
      [false, false],
    ]);
  });

  it('keeps its count through a doubt: the next failure pauses it longer', () => {
    troubled.failed(A, NOW);
    troubled.doubt(A);
    troubled.failed(A, NOW);
    expect([troubled.isPaused(A, NOW + 1_999), troubled.isPaused(A, NOW + 2_000)]).toEqual([true, false]);
  });

  it('is out of it with the first success, and begins with the first pause again', () => {
    troubled.failed(A, NOW);
    troubled.failed(A, NOW);
    troubled.succeeded([B]);
    expect(troubled.has(A)).toBe(true);
    troubled.succeeded([A]);
    expect(troubled.has(A)).toBe(false);
    troubled.failed(A, NOW);
    expect(troubled.isPaused(A, NOW + 1_000)).toBe(false);
  });
});
