import type { Funds } from '../../../src/modules/sending/index.js';
import { aSigner } from '../../support/builders.js';

export function someFunds(overrides: Partial<Funds> = {}): Funds {
  return {
    signer: aSigner(),
    balance: 100n,
    inFlight: 30n,
    queued: { count: 1, wei: 20n, isCut: false },
    available: 70n,
    missing: 0n,
    isLow: false,
    ...overrides,
  };
}
