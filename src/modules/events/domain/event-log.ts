import type { SignerId } from '../../../kernel/signer-id.js';
import type { Tx } from '../../../kernel/unit-of-work.js';
import type { TxEvent } from './tx-event.js';

/** The node that writes, and the fencing token that it proves for each signer. {@link Fence} has this shape. */
export interface EventAuthor {
  readonly nodeId: string;
  tokenFor(signer: SignerId): bigint;
}

/** Append-only: the audit trail, and the source of notifications. */
export abstract class EventLog {
  /** Writes in the transaction of the change itself, so that neither exists without the other (docs/invariants.md, I10). */
  abstract append(tx: Tx, author: EventAuthor, events: readonly TxEvent[]): Promise<void>;
}
