import { setTimeout as sleep } from 'node:timers/promises';

/** Waits `ms` milliseconds. Rejects with the signal's reason when that is aborted. */
export type Pause = (milliseconds: number, signal?: AbortSignal) => Promise<void>;

export const realPause: Pause = (milliseconds, signal) => sleep(milliseconds, undefined, signal && { signal });

/** How the classes of this process wait. The simulator and tests have a time of their own. */
export abstract class Pauses {
  abstract readonly pause: Pause;
}

/**
 * Waits for the work, but not for longer than `ms` milliseconds. Errors that come later are dropped.
 * @returns whether the work ended in this time
 * @throws what the work throws in this time
 */
export async function endedWithin(pause: Pause, ms: number, work: Promise<unknown>): Promise<boolean> {
  const ended = new AbortController();
  const late = pause(ms, ended.signal).then(
    () => false,
    () => false,
  );
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    ended.abort();
    work.catch(() => undefined);
  }
}

/** @returns the answer of the work, or undefined where it took longer, as {@link endedWithin} */
export async function answeredWithin<T>(pause: Pause, ms: number, work: Promise<T>): Promise<T | undefined> {
  return (await endedWithin(pause, ms, work)) ? work : undefined;
}
