/**
 * Time as a node sees it. Never used to decide that a lease is expired (I12: the database clock decides);
 * used to stop early, to schedule, and to stamp what only this node knows.
 */
export abstract class Clock {
  /** Wall clock. May jump. */
  abstract now(): Date;
  /** Milliseconds that only ever grow, unaffected by wall-clock changes. */
  abstract monotonicMs(): number;
}
