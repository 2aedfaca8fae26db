import { setTimeout as sleep } from 'node:timers/promises';

/** Waits `ms` milliseconds. The simulator replaces it, because it has its own time. Rejects with the signal's reason when that is aborted. */
export type Pause = (milliseconds: number, signal?: AbortSignal) => Promise<void>;

export const realPause: Pause = (milliseconds, signal) => sleep(milliseconds, undefined, signal && { signal });
