import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { grantNonces } from '../../../src/modules/signers/domain/nonce-sequence.js';

describe('the nonce sequence', () => {
  it('hands out released slots first, lowest first, then new ones', () => {
    expect(grantNonces(10n, [7n, 3n], 4)).toEqual({ nonces: [3n, 7n, 10n, 11n], cursor: 12n });
  });

  it('moves the cursor by the number of new slots only', () => {
    expect(grantNonces(10n, [3n], 1)).toEqual({ nonces: [3n], cursor: 10n });
  });

  it('hands out the lowest of more released slots than are asked for', () => {
    expect(grantNonces(10n, [4n, 8n, 3n, 7n], 2)).toEqual({ nonces: [3n, 4n], cursor: 10n });
  });

  it('never hands out a nonce twice, leaves no gap and never goes back', () => {
    const steps = fc.array(fc.record({ take: fc.nat(8), release: fc.nat(8) }), { maxLength: 30 });
    fc.assert(
      fc.property(steps, (commands) => {
        const slots = new Map<bigint, 'held' | 'released'>();
        const inState = (state: string) => [...slots].filter(([, each]) => each === state).map(([nonce]) => nonce);
        let cursor = 0n;
        for (const { take, release } of commands) {
          const grant = grantNonces(cursor, inState('released'), take);
          expect(grant.cursor).toBeGreaterThanOrEqual(cursor);
          expect(grant.nonces).toHaveLength(take);
          for (const nonce of grant.nonces) {
            expect(slots.get(nonce)).not.toBe('held');
            slots.set(nonce, 'held');
          }
          cursor = grant.cursor;
          for (const nonce of inState('held').slice(0, release)) slots.set(nonce, 'released');
        }
        expect([...slots.keys()].sort((a, b) => Number(a - b))).toEqual(
          Array.from({ length: Number(cursor) }, (_, nonce) => BigInt(nonce)),
        );
      }),
    );
  });
});
