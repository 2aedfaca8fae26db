import type { Mishap } from './gate.js';
import type { Seen } from './seen.js';

/** Where most can go wrong: on the two sides of every commit and of every send. */
export const WEAK_SPOTS = [
  'BEGIN',
  'fence_lock_leases',
  'COMMIT',
  'before a broadcast',
  'after a broadcast',
  'tx_save',
] as const;

export function noteMishap(seen: Seen, mishap: Mishap, place: string): void {
  seen.note(`mishap ${mishap}`);
  for (const spot of WEAK_SPOTS) if (place.includes(spot)) seen.note(`mishap ${mishap} at ${spot}`);
}
