import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for so many milliseconds. A seam: a simulation has its own time. Rejects with the reason of the signal when that is aborted. */
export type Pause = (milliseconds: number, signal?: AbortSignal) => Promise<void>;

export const realPause: Pause = (milliseconds, signal) => sleep(milliseconds, undefined, signal && { signal });
