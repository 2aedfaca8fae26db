/**
 * The clock of a node. Never decides whether a lease has expired: the database clock does (docs/invariants.md, I12). Used to stop work
 * early, to schedule, and for times that only this node uses.
 */
export abstract class Clock {
  /** Wall clock. May jump. */
  abstract now(): Date;
  /** Milliseconds that never go back, unaffected by wall-clock changes. */
  abstract monotonicMs(): number;
}
