import type { SignerId } from '../../../kernel/signer-id.js';
import type { CommandKind } from '../../commands/index.js';
import type { ChainBehindSince, TxState } from '../../ledger/index.js';
import type { Pause } from '../../signers/index.js';
import type { NonceGapSince } from '../domain/tx-facts.js';

/** What is around a tx in the database. Wei. */
export interface Surroundings {
  /** When it entered its state or sub state. */
  readonly since: Date;
  readonly replacedBy: string | null;
  /** Txs of its signer without a nonce that come before it, counted up to the limit. */
  readonly waitingAhead: {
    readonly count: number;
    readonly value: bigint;
    readonly gas: bigint;
    readonly blobs: bigint;
  };
  /** Txs of its signer in flight, and those of them with a lower nonce: every one, when it has no nonce. Counted up to the limit. */
  readonly inFlight: number;
  readonly inFlightAhead: number;
  /** The id is null when the tx belongs to another account. */
  readonly blockedBy: {
    readonly txId: string | null;
    readonly nonce: bigint;
    readonly state: TxState;
    /** The account that has it, when it is a nonce of an outside sender. */
    readonly heldBy: string | null;
  } | null;
  /** What the txs in flight may take from the balance. */
  readonly committed: bigint;
  readonly leaseOwner: string | null;
  /** The oldest pause that holds for its signer, or stop of its account. */
  readonly paused: Pause | null;
  /** Why nothing of the signer is sent: its chain is behind our books. */
  readonly behind: ChainBehindSince | null;
  /** Outside senders have the key of the signer, and no node does. */
  readonly external: boolean;
  /** Its lowest nonce that nobody has, and that nothing fills. */
  readonly nonceGap: NonceGapSince | null;
  /** The oldest command about the tx that waits for its owner. */
  readonly command: {
    readonly kind: CommandKind;
    readonly since: Date;
    /** How often it could not be carried out, and when it is tried next. */
    readonly tries: number;
    readonly dueAt: Date;
  } | null;
}

export abstract class TxSurroundings {
  /**
   * Null for a tx that does not exist.
   * @param most txs that are counted of each kind; what is beyond is not read
   */
  abstract of(txId: string, signer: SignerId, most: number): Promise<Surroundings | null>;
}
