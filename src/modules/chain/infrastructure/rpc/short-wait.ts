import type { Pause } from '../../../../platform/scheduling/pause.js';

/** Longest wait for an endpoint in back-off whose answer is not needed: it is probably down, and the caller waits. */
const SHORT_WAIT_MS = 1_000;

/** The answer, or the fallback when the answer takes longer. A later answer is ignored. */
export async function withShortWait<T>(pause: Pause, answer: Promise<T>, fallback: T): Promise<T> {
  const answered = new AbortController();
  const timeout = pause(SHORT_WAIT_MS, answered.signal).catch(() => undefined);
  try {
    return await Promise.race([answer, timeout.then(() => fallback)]);
  } finally {
    answered.abort();
  }
}
