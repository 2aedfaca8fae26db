import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { grantNonces } from '../../../src/modules/signers/domain/nonce-sequence.js';
import { NonceSlot } from '../../../src/modules/signers/domain/nonce-slot.js';
import { aHash } from '../../support/builders.js';

describe('the nonce sequence', () => {
  it('hands out released slots first, lowest first, then new ones', () => {
    expect(grantNonces(10n, [7n, 3n], 4)).toEqual({ nonces: [3n, 7n, 10n, 11n], cursor: 12n });
  });

  it('moves the cursor by the number of new slots only', () => {
    expect(grantNonces(10n, [3n], 1)).toEqual({ nonces: [3n], cursor: 10n });
  });

  it('never hands out a nonce twice, leaves no hole and never goes back', () => {
    const steps = fc.array(fc.record({ take: fc.nat(8), release: fc.nat(8) }), { maxLength: 30 });
    fc.assert(
      fc.property(steps, (commands) => {
        const slots = new Map<bigint, NonceSlot>();
        let cursor = 0n;
        for (const { take, release } of commands) {
          const released = [...slots.values()].filter(({ status }) => status === 'RELEASED').map(({ nonce }) => nonce);
          const grant = grantNonces(cursor, released, take);
          expect(grant.cursor).toBeGreaterThanOrEqual(cursor);
          for (const nonce of grant.nonces) hold(slots, nonce);
          cursor = grant.cursor;
          for (const slot of [...slots.values()].filter(({ status }) => status === 'HELD').slice(0, release))
            slot.release();
        }
        expect([...slots.keys()].sort((a, b) => Number(a - b))).toEqual(
          Array.from({ length: Number(cursor) }, (_, nonce) => BigInt(nonce)),
        );
      }),
    );
  });
});

/** Throws when the nonce is in use: that is what the test is about. */
function hold(slots: Map<bigint, NonceSlot>, nonce: bigint): void {
  const slot = slots.get(nonce);
  if (slot) slot.holdAgain('another payload');
  else slots.set(nonce, NonceSlot.held(nonce, 'a payload'));
}

describe('a nonce slot', () => {
  it('is released only with proof that nothing with its nonce may be out', () => {
    const slot = NonceSlot.held(5n, 'tx-1');
    slot.exposed();
    expect(() => slot.release()).toThrow('may have reached a node');
    expect(slot).toMatchObject({ status: 'HELD', holder: 'tx-1' });
  });

  it('holds one payload at a time, and never two that may both be out', () => {
    const calls = ['exposed', 'release', 'holdAgain', 'consume'] as const;
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...calls), { maxLength: 25 }), (sequence) => {
        let payload = 1;
        const slot = NonceSlot.held(0n, 'tx-1');
        const out = new Set<string | null>();
        for (const call of sequence) {
          try {
            if (call === 'exposed') {
              slot.exposed();
              out.add(slot.holder);
            }
            if (call === 'release') slot.release();
            if (call === 'holdAgain') slot.holdAgain(`tx-${(payload += 1)}`);
            if (call === 'consume') slot.consume(aHash(1));
          } catch {
            // Refused, and nothing has changed: that is what the expectations below check.
          }
          expect(out.size).toBeLessThanOrEqual(1);
          if (slot.status === 'HELD') expect(out.size === 0 || out.has(slot.holder)).toBe(true);
        }
      }),
    );
  });
});
