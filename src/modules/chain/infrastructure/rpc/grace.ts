import type { Pause } from '../../../../platform/scheduling/pause.js';

/** Longest wait for an endpoint in back-off that need not answer: most likely it is gone, and others wait behind the question. */
const GRACE_MS = 1_000;

/** The answer, or what stands for it when it does not come in time; it is ignored when it comes later. */
export async function within<T>(pause: Pause, answer: Promise<T>, otherwise: T): Promise<T> {
  const answered = new AbortController();
  const patience = pause(GRACE_MS, answered.signal).catch(() => undefined);
  try {
    return await Promise.race([answer, patience.then(() => otherwise)]);
  } finally {
    answered.abort();
  }
}
