import { describe, expect, it } from '@jest/globals';
import { toBlobs } from '../../../src/modules/requests/infrastructure/http/to-blobs.js';

const MODULUS = '73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001';
const BELOW = `${MODULUS.slice(0, -1)}0`;

describe('the blobs of a create', () => {
  it('have zeros up to their full length', () => {
    const [blob] = toBlobs(['0x00ab']);
    expect(blob).toEqual(Buffer.concat([Buffer.of(0, 0xab), Buffer.alloc(131_070)]));
  });

  it('are made of numbers below the order of BLS12-381, also at their end', () => {
    const at = (word: string) => `0x${'00'.repeat(131_040)}${word}`;
    expect(toBlobs([`0x${BELOW}`, at(BELOW)])).toHaveLength(2);
    for (const [text, blob, byte] of [
      [[`0x${MODULUS}`], 0, 0],
      [['0x00', at(MODULUS)], 1, 131_040],
    ] as const)
      expect(() => toBlobs(text)).toThrow(expect.objectContaining({ code: 'invalid_blob', facts: { blob, byte } }));
  });
});
