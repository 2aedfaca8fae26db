/** The boundaries of a lane step, between which commits and sends happen. */
export const CRASH_POINTS = [
  /** Nonces are allocated; nothing is signed. */
  'after_allocate',
  /** Signed bytes exist in memory only. */
  'after_sign',
  /** Signed bytes are committed; nothing was sent. */
  'after_persist',
  /** Sent; the answers are in memory only. */
  'after_broadcast',
  /** The answers are committed. */
  'after_record',
] as const;
export type CrashPoint = (typeof CRASH_POINTS)[number];

/** Lets a test kill the process exactly at a boundary. Does nothing unless configured at start. */
export abstract class CrashPoints {
  abstract reached(point: CrashPoint): void;
}
