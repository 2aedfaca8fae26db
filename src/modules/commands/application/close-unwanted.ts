import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../kernel/group-by.js';
import { TRANSFER_GAS } from '../../../kernel/transaction-gas.js';
import { asFound, bindingFor, FeeRules, noOpType, typeOfSlot } from '../../sending/index.js';
import { Custody, ExternalSigner, type Lease, slotKey } from '../../signers/index.js';
import {
  type Attempt,
  AttemptRepository,
  type ManagedTx,
  ManagedTxRepository,
  mayBeInPool,
  mayBeOut,
  WriteChanges,
} from '../../ledger/index.js';
import { commandVerdict, PRICE_REFUSALS } from '../domain/command-verdict.js';
import { USED } from '../domain/hold-verdict.js';
import { type CommandKind, CommandStore, type Decision, type TxCommand } from '../domain/tx-command.js';
import type { ChainAnswers } from './ask-chain.js';

const REASONS = {
  cancel: 'cancelled by its client',
  release: 'given back by its outside sender, unused',
  close: 'closed by an operator, with the word of its outside sender',
} as const;
type Ending = keyof typeof REASONS;

/** Whether a command ends a tx without another payload. */
export function isEnding(kind: CommandKind): kind is Ending {
  return kind in REASONS;
}

/** A tx that is not wanted any more: its client cancelled it, or it expired. */
export interface Unwanted {
  readonly tx: ManagedTx;
  readonly reason: string;
  /** Ends it when nothing of it was sent. Null: nobody knows whether something was. */
  readonly end: ((tx: ManagedTx) => void) | null;
}

/**
 * Ends txs that are not wanted any more. What was never sent ends at once, and gives its slot back. What may be out gets a competitor: a
 * no-op at the same nonce ({@link SignNoOps}), and whichever is mined decides (docs/invariants.md, I8).
 */
@Injectable()
export class CloseUnwanted {
  constructor(
    private readonly repository: ManagedTxRepository,
    private readonly store: CommandStore,
    private readonly attempts: AttemptRepository,
    private readonly fees: FeeRules,
    private readonly write: WriteChanges,
    private readonly custody: Custody,
  ) {}

  /**
   * Carries out a cancel of a tx that has a nonce, or a release or close of a hold. Of a hold that is closed something may be out that nobody sees.
   * @param said nothing at first. Only what was sent for free needs it
   * @returns null when the chain has to be asked
   */
  async cancel(
    leases: readonly Lease[],
    command: TxCommand & { readonly kind: Ending },
    said: ChainAnswers,
  ): Promise<Decision | null> {
    const { commandId, kind } = command;
    const [tx] = await this.repository.byIds([command.txId]);
    if (!tx) return { commandId, refusal: 'no such transaction' };
    // A crash, or an answer of the database that was lost, took the note that it was carried out. What came of it is no reason to refuse it.
    const { closing, failureReason } = tx.progress;
    const reason = REASONS[kind];
    if (closing?.reason === reason || failureReason === reason) return { commandId, refusal: null };
    const verdict = commandVerdict(kind, tx);
    if (verdict.kind === 'refused') return { commandId, refusal: verdict.detail };
    if (verdict.kind === 'done') return { commandId, refusal: null };
    // Its sender said both. One that is stored from here on makes this copy outdated.
    if (kind === 'release' && (await this.store.hasQueued(tx.id, 'consume')))
      return { commandId, refusal: USED.detail };
    const sent = hasNonce(tx) ? await this.attempts.ofSlots([tx]) : [];
    const bySlot = groupBy(sent, slotKey);
    const needsNoOp = kind === 'close' || (kind === 'cancel' && !nothingIsOut(tx, bySlot));
    if (needsNoOp && this.custody.isExternal(tx.signer))
      return { commandId, refusal: new ExternalSigner(tx.signer).message };
    const price = tx.isBeingRequeued ? 'enough' : this.priceAgainst(tx, sent.map(asFound), said);
    if (price === 'unknown') return null;
    if (price !== 'enough') return { commandId, refusal: PRICE_REFUSALS[price] };
    const end = kind === 'close' ? null : (copy: ManagedTx): void => copy.cancelled(reason);
    await this.end(leases, 'cancel', bySlot, [{ tx, reason, end }]);
    return { commandId, refusal: null };
  }

  /** @returns the ids of those that only a no-op can end, where nobody here signs one: they go on */
  async close(leases: readonly Lease[], operation: string, unwanted: readonly Unwanted[]): Promise<string[]> {
    const sent = await this.attempts.ofSlots(unwanted.map(({ tx }) => tx).filter(hasNonce));
    const bySlot = groupBy(sent, slotKey);
    const left = unwanted.filter(
      ({ tx }) => this.custody.isExternal(tx.signer) && hasNonce(tx) && !nothingIsOut(tx, bySlot),
    );
    await this.end(
      leases,
      operation,
      bySlot,
      unwanted.filter((item) => !left.includes(item)),
    );
    return left.map(({ tx }) => tx.id);
  }

  /**
   * Whether a no-op can outbid what may be in a pool. Known without the chain unless that is free: then any price is more, and the account may have
   * nothing. It is found out before anything is signed, because a no-op that was sent may cancel the tx at any time.
   */
  private priceAgainst(
    tx: ManagedTx,
    ofSlot: readonly Attempt[],
    { quote, balance }: ChainAnswers,
  ): 'enough' | 'unknown' | keyof typeof PRICE_REFUSALS {
    if (!ofSlot.some((attempt) => mayBeInPool(attempt) && attempt.fees.maxFeePerGas === 0n)) return 'enough';
    if (quote === null) return 'unknown';
    const noOp = {
      signer: tx.signer,
      request: null,
      attempts: bindingFor(tx.id, ofSlot, quote.blockNumber),
      type: noOpType(typeOfSlot(ofSlot), quote),
      gasLimit: TRANSFER_GAS,
      forGas: balance,
      because: 'forced',
    } as const;
    const { kind } = this.fees.bumped(noOp, quote);
    return kind === 'capped' || kind === 'unaffordable' ? kind : 'enough';
  }

  private async end(
    leases: readonly Lease[],
    operation: string,
    bySlot: ReadonlyMap<string, readonly Attempt[]>,
    unwanted: readonly Unwanted[],
  ): Promise<void> {
    const released: ManagedTx[] = [];
    for (const { tx, reason, end } of unwanted) {
      if (end === null || (hasNonce(tx) && !nothingIsOut(tx, bySlot))) {
        tx.close('CANCELLED', reason);
        continue;
      }
      if (hasNonce(tx)) released.push(tx);
      end(tx);
    }
    await this.write.execute(leases, operation, {
      txs: unwanted.map(({ tx }) => tx),
      slots: { released: released.map(({ signer, nonce }) => ({ signer, nonce })) },
    });
  }
}

function hasNonce(tx: ManagedTx): boolean {
  return tx.progress.nonce !== null;
}

/** Nothing was signed for the slot, or nothing of it left a node. */
function nothingIsOut(tx: ManagedTx, bySlot: ReadonlyMap<string, readonly Attempt[]>): boolean {
  return tx.state === 'ALLOCATED' && !(bySlot.get(slotKey(tx)) ?? []).some(mayBeOut);
}
