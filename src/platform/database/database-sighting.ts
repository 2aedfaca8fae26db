/** The state of a database server at one moment. A value that the server does not report is null. */
export interface DatabaseSighting {
  /** The newest row of `database_epoch`; null before the first row. */
  readonly epoch: DatabaseEpoch | null;
  /** System identifier of the server's data; initdb creates it once. */
  readonly system: string | null;
  /** Grows when a standby is promoted, or a backup is recovered. */
  readonly timeline: number | null;
  /** Bytes of the write-ahead log that are on the disk. The log contains all commits. */
  readonly flushed: bigint | null;
}

export interface DatabaseEpoch {
  readonly number: number;
  /** Distinguishes it from a row with the same number in a copy of the database that had lost this row. */
  readonly startedAt: string;
  readonly system: string | null;
  readonly timeline: number | null;
}

/** The evidence that a database may have lost commits. */
export type LossEvidence =
  | 'other_server'
  | 'new_timeline'
  | 'log_went_backwards'
  | 'epoch_is_gone'
  | 'cursor_went_backwards';

/**
 * Compares the server with its earlier state, and with the stored epoch.
 * @param before null at the first read of this process
 * @returns the evidence that commits may be lost; null when there is none
 */
export function evidenceOfLoss(before: DatabaseSighting | null, now: DatabaseSighting): LossEvidence | null {
  const stored = now.epoch;
  if (stored !== null && differs(stored.system, now.system)) return 'other_server';
  if (stored !== null && differs(stored.timeline, now.timeline)) return 'new_timeline';
  if (before === null) return null;
  // Another node has already found the evidence, and opened an epoch.
  if (stored !== null && stored.number > (before.epoch?.number ?? 0)) return null;
  if (before.flushed !== null && now.flushed !== null && now.flushed < before.flushed) return 'log_went_backwards';
  return sameEpoch(before.epoch, stored) ? null : 'epoch_is_gone';
}

export function sameEpoch(a: DatabaseEpoch | null, b: DatabaseEpoch | null): boolean {
  return a?.number === b?.number && a?.startedAt === b?.startedAt;
}

function differs(a: string | number | null, b: string | number | null): boolean {
  return a !== null && b !== null && a !== b;
}
