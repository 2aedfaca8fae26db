import { setTimeout as sleep } from 'node:timers/promises';

const INTERVAL_MS = 40;

/** Calls `ask` until it returns something other than null; returns null after `timeoutMs`. */
export async function poll<T>(timeoutMs: number, ask: () => Promise<T | null>): Promise<T | null> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== null || performance.now() > deadline) return answer;
    await sleep(INTERVAL_MS);
  }
}
