import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for a condition, never for the clock; the time-out only ends a test that has failed already. */
export async function until(what: string, condition: () => Promise<boolean>, timeoutMs = 60_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain until ${what}`);
    await sleep(50);
  }
}
