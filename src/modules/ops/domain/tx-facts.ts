import type { EndpointStatus } from '../../chain/index.js';
import type { CommandKind } from '../../commands/index.js';
import type { ChainBehindSince, TxKind, TxState, TxSubState } from '../../ledger/index.js';
import type { PauseView } from './pause-view.js';

/** Wei per gas. */
export interface Price {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** A nonce that nobody has, and that higher ones wait for; Lockstep has no key to fill it. */
export interface NonceGapSince {
  readonly nonce: number | string;
  readonly since: string;
}

/** In place of the name of an account, for other accounts. */
export const ANOTHER_ACCOUNT = 'another account';

/** What is known about a tx and what is around it. Null: not known now, or without meaning in its state. Times are ISO 8601, money is wei. */
export interface TxFacts {
  readonly txId: string;
  readonly kind: TxKind;
  readonly chainId: number;
  readonly address: string;
  readonly state: TxState;
  readonly subState: TxSubState | null;
  readonly nonce: number | string | null;
  /** When it entered this state or sub state. */
  readonly since: string;
  readonly nextTryAt: string | null;
  readonly expiresAt: string | null;
  readonly lastError: string | null;
  readonly failureReason: string | null;
  readonly replacedBy: string | null;
  /** When the first no-op was signed that competes with it for its slot. One that every node refused competes with nothing. */
  readonly noOpSignedAt: string | null;
  /** The oldest command about it that waits for the owner of its signer. */
  readonly command: {
    readonly kind: CommandKind;
    readonly since: string;
    /** How often it could not be carried out, and when it is tried next. */
    readonly tries: number;
    readonly nextTryAt: string;
  } | null;
  readonly attempts: number;
  /** Signers that have to sign an authorization for it, and did not yet. */
  readonly awaits: readonly string[];
  /** The same of permits. */
  readonly awaitsPermits: readonly string[];
  /** `position` is null where more txs are ahead than are counted. */
  readonly queue: { readonly position: number | null; readonly ahead: number } | null;
  /** The lowest nonce of its signer that is not mined, if that is in front of it. */
  readonly blockedBy: {
    readonly txId: string | null;
    readonly nonce: number | string;
    readonly state: TxState;
    /** The account that has it, when it is a nonce of an outside sender. */
    readonly heldBy: string | null;
  } | null;
  readonly price: {
    /** The highest price of the attempts that may be out. */
    readonly highestAttempt: Price | null;
    readonly market: Price;
    readonly congestedTip: bigint;
    /** Whether it pays a congested tip, so that it does not wait because of its price; null without an attempt. */
    readonly aboveMarket: boolean | null;
  } | null;
  readonly endpoints: readonly Pick<EndpointStatus, 'endpoint' | 'state' | 'lastError'>[];
  readonly balance: {
    readonly balance: bigint;
    readonly committed: bigint;
    readonly queuedAhead: bigint;
    readonly missing: bigint;
  } | null;
  readonly signer: {
    /** The oldest pause that holds for it. */
    readonly paused: PauseView | null;
    /** Why nothing of it is sent: its chain is behind our books. */
    readonly behind: ChainBehindSince | null;
    /** Outside senders have its key, and no node does. */
    readonly external: boolean;
    readonly nonceGap: NonceGapSince | null;
    readonly leaseOwner: string | null;
    readonly inFlight: number;
    readonly inFlightLimit: {
      readonly configured: number;
      readonly learnt: number | null;
      readonly delegated: boolean;
    };
  };
  /** `required` and `missing` are null where the chain decides by a block tag; `missing` also while the head is not known. */
  readonly mined: {
    readonly blockNumber: number;
    readonly required: number | null;
    readonly missing: number | null;
  } | null;
}
