export interface DeletedBatch {
  /** The last row that was looked at. */
  readonly next: string;
  /** Whether old rows may follow. */
  readonly hasMore: boolean;
  /** Numbers of deleted rows by table. */
  readonly deleted: Readonly<Record<string, number>>;
}

/** Rows of one kind in an order in which the oldest come first. A row has a place in it, which only the adapter can read. */
export abstract class OldRows {
  /** The place before all rows. */
  abstract readonly beginning: string;

  /** How long they are kept; infinite for ever. */
  abstract readonly keepMs: number;

  /**
   * Looks at a limited number of rows behind a place, and deletes what is older than `keepMs` and not needed, in one commit.
   *
   * @returns null while another node deletes rows of this kind
   */
  abstract deleteBehind(place: string): Promise<DeletedBatch | null>;
}

export abstract class OldEvents extends OldRows {
  /** When the oldest event was written; null when there is none. */
  abstract oldestAt(): Promise<Date | null>;
}

/** Managed txs, each with everything that belongs to it. */
export abstract class OldTxs extends OldRows {}

/** Of the audit log. */
export abstract class OldEntries extends OldRows {}
