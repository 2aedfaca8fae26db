import type { Hash } from '../../../kernel/hex.js';
import type { ManagedTx } from '../../ledger/index.js';
import type { HoldCommandKind } from './tx-command.js';

/** What becomes of a command, by the present state of its tx. */
export type CommandVerdict =
  /** The tx waits without a nonce, so any node may change it. */
  | { readonly kind: 'at_once' }
  /** A race for its slot begins, which only the owner of the signer may start. */
  | { readonly kind: 'by_owner' }
  /** It happens already. */
  | { readonly kind: 'done' }
  | { readonly kind: 'refused'; readonly code: string; readonly detail: string; readonly advice: string };

/**
 * The rules of what an outside sender, or an operator, says about a hold. A repetition of what holds already is done; what contradicts it is refused.
 * @param txHash of a consume. While nothing is mined it may name another transaction than before: the chain decides between them
 */
export function holdVerdict(command: HoldCommandKind, tx: ManagedTx, txHash: Hash | null): CommandVerdict {
  const { state, progress } = tx;
  if (!tx.isHold)
    return refused('not_a_hold', 'the transaction is not one of an outside sender', 'use the id of a hold');
  const givesUp = command === 'release' || command === 'close';
  if (state === 'PENDING') {
    if (command === 'consume') return refused('no_nonce_yet', 'the hold has no nonce yet', 'wait until it has one');
    return { kind: givesUp ? 'at_once' : 'by_owner' };
  }
  if (state === 'ALLOCATED') return { kind: 'by_owner' };
  if (state === 'IN_MEMPOOL') {
    if (command === 'close') return { kind: tx.isClosing ? 'done' : 'by_owner' };
    if (command !== 'consume') return USED;
    return { kind: progress.txHash === txHash ? 'done' : 'by_owner' };
  }
  if (givesUp && state === 'CANCELLED') return { kind: 'done' };
  const isUsed = state === 'MINED' || state === 'CONFIRMED' || state === 'FAILED';
  if (command === 'consume' && isUsed && progress.txHash !== null) {
    if (progress.txHash === txHash) return { kind: 'done' };
    return state === 'MINED'
      ? refused(
          'other_is_mined',
          `${progress.txHash} has its nonce, in a block that is not final`,
          'send nothing in its place before hold.consumed or hold.released: a reorg may still let this one be mined',
        )
      : refused('used_by_other', `${progress.txHash} has its nonce`, 'reserve another nonce');
  }
  if (state === 'MINED')
    return refused('already_mined', 'the transaction is in a block', 'read its receipt; only a reorg can undo it');
  return refused('already_final', `the hold is ${state}`, 'reserve another nonce');
}

type Refusal = Extract<CommandVerdict, { kind: 'refused' }>;

/** What is out can be mined at any time, whatever anybody says. */
export const USED: Refusal = refused(
  'already_used',
  'a transaction with its nonce may be out',
  'wait until it is mined: only the chain ends it now',
);

/** Else an outside sender could keep what is behind its nonce waiting for ever. */
export const LASTED_LONGEST: Refusal = refused(
  'hold_too_old',
  'the hold was reserved a day ago, and lasts no longer',
  'use its nonce, or give it back',
);

function refused(code: string, detail: string, advice: string): Refusal {
  return { kind: 'refused', code, detail, advice };
}
