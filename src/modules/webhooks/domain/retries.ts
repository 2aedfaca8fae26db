import { backoffMs, jittered } from '../../../kernel/backoff.js';
import type { Outcome } from './delivery.js';
import type { Answer } from './webhook-sender.js';

const FIRST_MS = 5_000;
const LONGEST_MS = 6 * 3_600_000;
const GONE = 410;
const LEAST_ASKED_MS = 1_000;
/** They tell with Retry-After how long to wait. */
const ASKS_TO_WAIT: readonly (number | null)[] = [429, 503];

/** Only 2xx is a success. */
export function outcomeOf({ status, error }: Answer): Outcome {
  if (status === GONE) return 'gone';
  return error === null && status !== null && status >= 200 && status <= 299 ? 'delivered' : 'failed';
}

/** How long the receiver asks to wait; null when it does not ask. */
export function askedWaitMs({ status, retryAfterMs }: Answer): number | null {
  if (retryAfterMs === null || !ASKS_TO_WAIT.includes(status)) return null;
  return Math.max(LEAST_ASKED_MS, retryAfterMs);
}

/**
 * Milliseconds until the next try.
 * @param tries before this one
 * @param chance between 0 and 1
 */
export function retryWaitMs(answer: Answer, tries: number, chance: number): number {
  const pause = backoffMs(FIRST_MS, tries, LONGEST_MS);
  return Math.round(askedWaitMs(answer) ?? jittered(pause, chance));
}
