import type { ChainId } from '../../../../kernel/signer-id.js';
import type { ManagedTx } from '../../domain/managed-tx.js';

export type CreateResult =
  'created' | 'exists' | 'conflict' | 'unknown_signer' | 'unknown_authority' | 'unserved_signer';
export type SubmitResult = 'accepted' | 'unknown' | 'rejected';

/** Counters of creates, sends and lane steps, for `/metrics`. */
export abstract class TxMetrics {
  abstract created(result: CreateResult): void;
  abstract submitted(result: SubmitResult, count: number): void;
  abstract resubmitted(kind: 'same_bytes' | 'bump', count: number): void;
  /** Txs that wait because a higher price would be above the caps. */
  abstract feeCapped(count: number): void;
  /** Called once per committed change of state. */
  abstract entered(txs: readonly ManagedTx[]): void;
  /** From the doorbell or the poll to the start of the lane step. */
  abstract queueLatency(seconds: number): void;
  abstract queueDepth(chainId: ChainId, depth: number): void;
}
