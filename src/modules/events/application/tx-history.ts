/** One entry of a transaction's audit trail, as the API shows it. */
export interface HistoryEntry {
  readonly seq: string;
  readonly time: string;
  readonly reason: string;
  readonly fromState: string | null;
  readonly toState: string;
  readonly nodeId: string;
  readonly fencingToken: string | null;
  readonly txHash: string | null;
  readonly blockNumber: number | null;
  readonly blockHash: string | null;
  readonly error: string | null;
  readonly detail: Record<string, unknown> | null;
}

export abstract class TxHistory {
  /** Oldest first; empty for an unknown id. */
  abstract of(txId: string): Promise<HistoryEntry[]>;
}
