/** One entry of the audit trail of a transaction, as the API shows it. */
export interface HistoryEntry {
  readonly seq: string;
  readonly time: string;
  readonly reason: string;
  readonly fromState: string | null;
  readonly toState: string;
  readonly nodeId: string;
  /** The caller whose request it was; null for what Lockstep did by itself. */
  readonly actor: string | null;
  readonly fencingToken: string | null;
  readonly txHash: string | null;
  readonly blockNumber: number | null;
  readonly blockHash: string | null;
  readonly error: string | null;
  readonly detail: Record<string, unknown> | null;
}

export const MAX_HISTORY_PAGE = 1_000;

/** A page of a long history. */
export interface HistoryPage {
  /** `seq` of the last entry of the previous page. */
  readonly after: string;
  readonly limit: number;
}

export abstract class TxHistory {
  /** Oldest first; empty for an unknown id. Without a page, the first {@link MAX_HISTORY_PAGE} entries. */
  abstract of(txId: string, page?: HistoryPage): Promise<HistoryEntry[]>;
}
