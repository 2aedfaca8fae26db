import { answeredWithin, realPause } from '../../../platform/scheduling/pause.js';

/** A person waits for the answer, and the rest of it does not need the chain. */
const LONGEST_WAIT_MS = 2_000;

/** @returns the answer to a question to a chain; null where it fails, or does not come in time */
export async function inTime<T>(question: () => Promise<T>): Promise<T | null> {
  const answer = await answeredWithin(realPause, LONGEST_WAIT_MS, question()).catch(() => undefined);
  return answer ?? null;
}
