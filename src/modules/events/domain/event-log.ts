import type { SignerId } from '../../../kernel/signer-id.js';
import type { Tx } from '../../../kernel/unit-of-work.js';
import type { TxEvent } from './tx-event.js';

/** Who writes: the node, and the token it proves for each signer. Matches the fence of critical writes. */
export interface EventAuthor {
  readonly nodeId: string;
  tokenFor(signer: SignerId): bigint;
}

/** Append-only: audit trail and outbox in one. */
export abstract class EventLog {
  /** In the transaction of the change itself, so that neither exists without the other (I10). */
  abstract append(tx: Tx, author: EventAuthor, events: readonly TxEvent[]): Promise<void>;
}
