import type { SignerId } from '../../../kernel/signer-id.js';
import type { Tx } from '../../../kernel/unit-of-work.js';
import type { SignerEvent, TxEvent } from './tx-event.js';

/**
 * The node that writes, and the fencing token that it proves for each signer; null for what needs no lease. {@link Fence} has this shape.
 */
export interface EventAuthor {
  readonly nodeId: string;
  /** The caller whose request it is; absent for what Lockstep does by itself. */
  readonly actor?: string;
  tokenFor(signer: SignerId): bigint | null;
}

/** Like {@link EventAuthor}; some changes of signers need no lease, and then there is no token. */
export interface SignerEventAuthor {
  readonly nodeId: string;
  readonly actor?: string;
  tokenFor(signer: SignerId): bigint | null;
}

/** Append-only: the audit trail, and the source of notifications. */
export abstract class EventLog {
  /** Writes in the transaction of the change itself, so that neither exists without the other (docs/invariants.md, I10). */
  abstract append(tx: Tx, author: EventAuthor, events: readonly TxEvent[]): Promise<void>;
  /** Events about signers, also in the transaction of the change. */
  abstract appendOfSigners(tx: Tx, author: SignerEventAuthor, events: readonly SignerEvent[]): Promise<void>;
}
