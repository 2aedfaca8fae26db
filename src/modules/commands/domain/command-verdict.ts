import type { ManagedTx, TxPayload } from '../../ledger/index.js';
import type { Hash } from '../../../kernel/hex.js';
import { type CommandVerdict, holdVerdict } from './hold-verdict.js';
export type { CommandVerdict } from './hold-verdict.js';
import { type CommandKind, isOfHold } from './tx-command.js';

/** Why an owner refuses a command, by what the price of the next attempt is bound by. */
export const PRICE_REFUSALS = {
  capped: 'a higher price is above the caps',
  unaffordable: 'gas is free, and the balance of the signer does not cover a price above 0',
} as const;

type Refusal = Extract<CommandVerdict, { kind: 'refused' }>;

/**
 * The rules of every command for every state. The same rules hold at the door and when the owner carries a command out.
 * @param txHash of a consume
 */
export function commandVerdict(command: CommandKind, tx: ManagedTx, txHash: Hash | null = null): CommandVerdict {
  const { state } = tx;
  if (isOfHold(command)) return holdVerdict(command, tx, txHash);
  // A cancel vouches for nothing, and its outside sender may have signed for the nonce.
  if (tx.isHold && (command !== 'cancel' || state !== 'PENDING'))
    return refused('not_a_payload', 'a hold has no payload', 'release its nonce, or use it');
  if (tx.kind === 'fill')
    return refused('not_a_payload', 'a fill only consumes a nonce', 'wait until it is mined; it cannot be changed');
  if (state === 'PENDING')
    return command === 'speed_up'
      ? refused('not_sent_yet', 'the transaction has no nonce yet', 'replace it to change its fees or its speed')
      : { kind: 'at_once' };
  if (tx.isBeingRequeued) {
    if (command === 'cancel') return { kind: 'by_owner' };
    if (command === 'replace')
      return refused(
        'being_requeued',
        'no node takes it, and a no-op uses its nonce up so that it gets another one',
        'replace it when it is PENDING again, or cancel it',
      );
  }
  if (state === 'MINED')
    return refused('already_mined', 'the transaction is in a block', 'read its receipt; only a reorg can undo it');
  if (state !== 'ALLOCATED' && state !== 'IN_MEMPOOL')
    return refused('already_final', `the transaction is ${state}`, 'create a new transaction');
  const { replacedBy, withdrawnReplacement } = tx.progress;
  if (tx.isWithdrawn)
    return refused(
      'refused_by_nodes',
      `the nodes refused it, and ${tx.progress.replaces} is sent in its place`,
      `send it to ${tx.progress.replaces}`,
    );
  if (withdrawnReplacement !== null && command === 'replace')
    return refused(
      'refused_by_nodes',
      `the nodes refused its replacement ${withdrawnReplacement}, which may be mined all the same`,
      'wait for the end of the transaction, or cancel it',
    );
  if (replacedBy !== null)
    return refused(
      'being_replaced',
      `the transaction ${replacedBy} competes for its nonce`,
      `send it to ${replacedBy}`,
    );
  // Only a tx that was mined makes the newest of a race rest.
  if (tx.isResting)
    return refused(
      'already_mined',
      'another transaction with its nonce is in a block',
      'read the receipt of the transaction that it replaces; only a reorg can undo it',
    );
  if (tx.isClosing && command === 'cancel') return { kind: 'done' };
  if (tx.isClosing && command === 'replace')
    return refused('being_cancelled', 'a no-op competes for its nonce', 'create a new transaction');
  return { kind: 'by_owner' };
}

/**
 * Whether pools take a replacement of a tx that may be out: they hold transactions with blobs apart from all others, and no account has both.
 * Null when they do.
 */
export function kindVerdict(hasBlobs: boolean, replacement: TxPayload): Refusal | null {
  if (hasBlobs === (replacement.blobHashes !== undefined)) return null;
  return refused(
    'other_kind',
    'a transaction with blobs cannot replace one without, nor the reverse',
    'cancel the transaction, and create another one',
  );
}

function refused(code: string, detail: string, advice: string): Refusal {
  return { kind: 'refused', code, detail, advice };
}
