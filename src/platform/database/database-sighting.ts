/** What a database says of itself at one moment. What a server does not tell is null. */
export interface DatabaseSighting {
  /** The newest row of `database_epoch`; null before the first. */
  readonly epoch: DatabaseEpoch | null;
  /** Of the server's data, made once by initdb. */
  readonly system: string | null;
  /** Grows when a standby is promoted, or a backup is recovered. */
  readonly timeline: number | null;
  /** Bytes of its log that are on the disk. Commits are in it. */
  readonly flushed: bigint | null;
}

export interface DatabaseEpoch {
  readonly number: number;
  /** Tells it from another row with the same number, in a copy of the database that had lost the first. */
  readonly startedAt: string;
  readonly system: string | null;
  readonly timeline: number | null;
}

/** Why a database may have lost commits. */
export type LossEvidence =
  'other_server' | 'new_timeline' | 'log_went_backwards' | 'epoch_is_gone' | 'cursor_went_backwards';

/**
 * Whether what a process saw before, or what is stored, shows that commits may be missing.
 * @param before null when the process sees the database for the first time
 */
export function evidenceOfLoss(before: DatabaseSighting | null, now: DatabaseSighting): LossEvidence | null {
  const stored = now.epoch;
  if (stored !== null && differs(stored.system, now.system)) return 'other_server';
  if (stored !== null && differs(stored.timeline, now.timeline)) return 'new_timeline';
  if (before === null) return null;
  // Somebody else has noticed it already, and opened an epoch.
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
