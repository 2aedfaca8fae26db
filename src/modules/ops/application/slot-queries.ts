import type { Caller, Viewer } from '../../../kernel/caller.js';
import type { Hash } from '../../../kernel/hex.js';
import type { Nonce, SignerId } from '../../../kernel/signer-id.js';
import type { Attempt, TxState } from '../../ledger/index.js';

/** That the database can hold. */
export const HIGHEST_NONCE: Nonce = 2n ** 63n - 1n;

export const SLOT_STATUSES = ['HELD', 'CONSUMED', 'RELEASED'] as const;
export type SlotStatus = (typeof SLOT_STATUSES)[number];

/**
 * What a nonce is used for. `hold`: an outside sender has it. `authorization`: it was signed for a tx of another signer. `foreign`: a transaction that Lockstep did not send used it.
 * `gap`: nobody has it, and nonces above it wait for it. `free`: nobody has it, and the next tx gets it.
 */
export const NONCE_USES = ['payload', 'fill', 'hold', 'authorization', 'foreign', 'gap', 'free'] as const;
export type SlotUse = (typeof NONCE_USES)[number];

/** A transaction that used a nonce. Null where no endpoint can name it. */
export interface ChainUse {
  readonly txHash: Hash | null;
  readonly block: { readonly number: number; readonly hash: Hash } | null;
}

/** Operators (`signers:admin`) are told which hold has a nonce, whosever it is, because they may close it. */
export type SlotViewer = Viewer & Pick<Caller, 'scopes'>;

/** A slot as the API shows it. */
export interface SlotView {
  readonly nonce: Nonce;
  readonly status: SlotStatus;
  readonly use: SlotUse;
  /** Of the tx that has it; null when nobody has it, or a tx that the viewer may not see. */
  readonly txId: string | null;
  /** Of that tx, whosever it is. */
  readonly state: TxState | null;
  /** Of the mined transaction; before that, of the newest attempt, which only its account knows. */
  readonly txHash: string | null;
  readonly since: Date;
  /** As far as the database knows. */
  readonly onChain: ChainUse | null;
}

export interface SlotAttempt extends Pick<Attempt, 'kind' | 'status'> {
  readonly txId: string;
  readonly txHash: string;
  readonly createdAt: Date;
  readonly lastSentAt: Date | null;
}

export interface SlotFilter {
  readonly status?: SlotStatus;
  /** Only slots of nonces below it. */
  readonly below?: Nonce;
  readonly limit: number;
}

/** Reads slots for the API. They need no lease. */
export abstract class SlotQueries {
  /** The cursor of a signer, null before its first alignment; and the lowest nonce at or above a floor that has a slot. */
  abstract cursor(
    signer: SignerId,
    floor: Nonce,
  ): Promise<{ readonly next: Nonce | null; readonly lowest: Nonce | null }>;
  /** The highest nonces first. @returns where the next page begins, too; null on the last one. A page may have fewer slots than its limit, even none. */
  abstract list(
    signer: SignerId,
    filter: SlotFilter,
    viewer: SlotViewer,
  ): Promise<{ readonly items: readonly SlotView[]; readonly nextBelow: Nonce | null }>;
  abstract find(signer: SignerId, nonce: Nonce, viewer: SlotViewer): Promise<SlotView | null>;
  /** What the account signed with a nonce, oldest first. */
  abstract attempts(signer: SignerId, nonce: Nonce, viewer: Viewer): Promise<SlotAttempt[]>;
}
