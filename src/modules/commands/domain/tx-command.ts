import type { Hash } from '../../../kernel/hex.js';
import type { ChainId, SignerId } from '../../../kernel/signer-id.js';
import type { Tx } from '../../../kernel/unit-of-work.js';
import { NO_FEES } from '../../ledger/domain/index.js';
import type { TxRequest } from '../../ledger/index.js';

/** What a client may ask for about a tx that it created. */
export const CHANGE_KINDS = ['cancel', 'replace', 'speed_up'] as const;
/** What an outside sender says about the nonce that it has; `close`: what an operator says with its word. */
export const HOLD_COMMAND_KINDS = ['release', 'consume', 'extend', 'close'] as const;
export type HoldCommandKind = (typeof HOLD_COMMAND_KINDS)[number];
export const COMMAND_KINDS = [...CHANGE_KINDS, ...HOLD_COMMAND_KINDS] as const;
export type CommandKind = (typeof COMMAND_KINDS)[number];

/** `QUEUED`: the owner of the signer has not carried it out yet. `REFUSED`: it came too late, or is not possible. */
export const COMMAND_STATUSES = ['QUEUED', 'DONE', 'REFUSED'] as const;
export type CommandStatus = (typeof COMMAND_STATUSES)[number];

export interface TxCommand {
  readonly commandId: string;
  readonly signer: SignerId;
  readonly txId: string;
  readonly kind: CommandKind;
  /** The client's key for the command, unique per account and signer among commands. */
  readonly requestId: string;
  readonly requestHash: Hash;
  /** Explicit fees of a speed-up; null for the market. */
  readonly fees: TxRequest['fees'] | null;
  /** Of a consume: what the outside sender has sent, or will send; else null. */
  readonly txHash: Hash | null;
  /** Of an extend: seconds from when it is carried out; else null. */
  readonly ttl: number | null;
  /** The tx with the new payload of a replace. It is the tx itself when that was still PENDING. */
  readonly replacement: string | null;
  readonly status: CommandStatus;
  /** Why it was refused; else null. */
  readonly refusal: string | null;
  /** How often its owner could not carry it out. */
  readonly tries: number;
}

/** Before a command that could not be carried out is tried again; doubles each time. */
export const FIRST_PAUSE_MS = 1_000;

export function isOfHold(kind: CommandKind): kind is HoldCommandKind {
  return HOLD_COMMAND_KINDS.some((each) => each === kind);
}

export type SameCommand = Pick<TxCommand, 'txId' | 'kind' | 'requestHash'>;

/** How a command ended. */
export interface Decision {
  readonly commandId: string;
  readonly refusal: string | null;
}

/** @param decimals amounts as decimal strings; what the client did not choose is left out */
export function feesFrom(decimals: Readonly<Record<string, string>>): TxRequest['fees'] {
  return { ...NO_FEES, ...Object.fromEntries(Object.entries(decimals).map(([name, wei]) => [name, BigInt(wei)])) };
}

/** Commands of clients about their txs. */
export abstract class CommandStore {
  /** @param tx in which it is read; a statement of its own by default */
  abstract find(signer: SignerId, requestId: string, account: string, tx?: Tx): Promise<TxCommand | null>;
  /**
   * Whether a command of this kind about the tx waits for its owner.
   * @param tx in which it is read; a statement of its own by default
   */
  abstract hasQueued(txId: string, kind: CommandKind, tx?: Tx): Promise<boolean>;
  /** The oldest command of the account that is the same but for its key, in one of these states. */
  abstract same(
    tx: Tx,
    command: SameCommand,
    statuses: readonly CommandStatus[],
    account: string,
  ): Promise<TxCommand | null>;
  /** @throws Conflict `idempotency_conflict` when another command took the key meanwhile */
  abstract insert(tx: Tx, command: TxCommand, account: string): Promise<void>;

  /** Commands that wait for their owner and are due, at most this many of each signer, the longest due first. */
  abstract queued(chainId: ChainId, signers: readonly string[], perSigner: number): Promise<TxCommand[]>;
  /** Commands that could not be carried out now are due again after these milliseconds, and were tried once more. */
  abstract postpone(later: readonly Later[]): Promise<void>;
  abstract get(commandId: string): Promise<TxCommand | null>;
  /** @param tx in which it is written; a database transaction of its own by default */
  abstract decide(decisions: readonly Decision[], tx?: Tx): Promise<void>;
  /** Commands about a tx, oldest first, newer than `afterId`. */
  abstract ofTx(txId: string, afterId: string | null, limit: number): Promise<TxCommand[]>;
}

/** What could not be done now, and after how many milliseconds it is due again. */
export interface Later {
  readonly id: string;
  readonly inMs: number;
}
