import type { Hash } from '../../../kernel/hex.js';
import type { SignerId } from '../../../kernel/signer-id.js';
import type { RequestedFees } from '../../transactions/index.js';

/** What a client may ask for about a tx that it created. */
export const COMMAND_KINDS = ['cancel', 'replace', 'speed_up'] as const;
export type CommandKind = (typeof COMMAND_KINDS)[number];

/** `QUEUED`: the owner of the signer has not carried it out yet. `REFUSED`: it came too late, or is not possible. */
export const COMMAND_STATUSES = ['QUEUED', 'DONE', 'REFUSED'] as const;
export type CommandStatus = (typeof COMMAND_STATUSES)[number];

export interface TxCommand {
  readonly commandId: string;
  readonly signer: SignerId;
  readonly txId: string;
  readonly kind: CommandKind;
  /** The client's key for the command, unique per signer among commands. */
  readonly requestId: string;
  readonly requestHash: Hash;
  /** Explicit fees of a speed-up; null for the market. */
  readonly fees: RequestedFees | null;
  /** Of a replace: the tx with the new payload. It is the tx itself when that was still PENDING. */
  readonly replacement: string | null;
  readonly status: CommandStatus;
  /** Why it was refused; else null. */
  readonly refusal: string | null;
}

/** How a command ended. */
export interface Decision {
  readonly commandId: string;
  readonly refusal: string | null;
}
