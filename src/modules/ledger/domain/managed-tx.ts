import type { BlockRef, Receipt } from '../../chain/index.js';
import type { EventReason, TxEvent } from '../../events/index.js';
import { backoffMs } from '../../../kernel/backoff.js';
import { Conflict, InvariantViolation } from '../../../kernel/errors.js';
import type { Hash } from '../../../kernel/hex.js';
import type { JsonObject } from '../../../kernel/json.js';
import type { Nonce, SignerId } from '../../../kernel/signer-id.js';
import type { Attempt } from './attempt.js';
import { canTransition, type TxState, type TxSubState } from './tx-state-machine.js';

/** A timer of a tx: set to this many milliseconds from now by the database clock, cleared, or kept. */
export type Timer = { readonly inMs: number } | 'clear' | 'keep';

/** When a tx is sent and its receipt is checked next. */
export interface SubmitTimers {
  readonly resubmit: Timer;
  readonly receiptCheck: Timer;
}

/**
 * `fill`: a no-op made by Lockstep, only to consume a nonce. `hold`: a nonce for an outside sender, who signs and sends. Everything else is the
 * payload of a client.
 */
export const TX_KINDS = ['payload', 'fill', 'hold'] as const;
export type TxKind = (typeof TX_KINDS)[number];

/** A no-op competes with the payload for the slot of a tx. The chain decides which of the two is mined. */
export interface Closing {
  /** What the tx becomes if the no-op is mined. `PENDING`: its payload waits for another nonce. */
  readonly as: 'FAILED' | 'CANCELLED' | 'PENDING';
  readonly reason: string;
  /** The no-op was mined, in a block that a reorg may still orphan. */
  readonly won: boolean;
}

/** The fields of a managed tx that change, and its kind. */
export interface TxProgress {
  readonly txId: string;
  readonly kind: TxKind;
  readonly signer: SignerId;
  readonly state: TxState;
  readonly subState: TxSubState | null;
  readonly nonce: Nonce | null;
  /** Gas of the attempts, set before a nonce is allocated. */
  readonly gasLimit: bigint | null;
  /** The current attempt, or the one that was mined. */
  readonly txHash: Hash | null;
  readonly receipt: Receipt | null;
  /** Why it failed, or will fail if the no-op that closes its slot is mined. */
  readonly failureReason: string | null;
  /** Null unless its slot is being closed, or was closed. */
  readonly closing: Closing | null;
  /** The tx that this one competes with for its slot; null unless it is a replacement. */
  readonly replaces: string | null;
  /** The replacement that competes for the slot of this tx, or that took it. */
  readonly replacedBy: string | null;
  /** A replacement of this tx that every endpoint refused. It may be out all the same, and then takes the slot. */
  readonly withdrawnReplacement: string | null;
  /** How many tries in a row ended in the same `subState`. */
  readonly tries: number;
  /** How many nonces in a row went to no-ops because no node took its payload. */
  readonly requeues: number;
  /** The error of the last try; null if it succeeded. */
  readonly lastError: string | null;
  /** Grows with every save. A save of an outdated copy is refused. */
  readonly version: number;
}

/**
 * Confirmations that are new to subscribers: the blocks `from` to `to` of the branch that ends in `hash` (rows of `chain_block`, linked by
 * parent hash). An event with `newFork` makes all earlier confirmations void.
 */
interface ConfirmationRange {
  readonly from: number;
  readonly to: number;
  readonly hash: Hash;
}

/** What a slot was signed with again. Nodes may have wanted more gas. */
type NewBytes = Pick<Attempt, 'txHash' | 'fees' | 'gasLimit'>;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type EventDetail = Pick<TxEvent, 'txHash' | 'block' | 'error' | 'detail'>;

const LONGEST_REQUEUE_MS = 3_600_000;

const END_REASONS = { FAILED: 'failed', CANCELLED: 'cancelled' } as const satisfies Record<
  Exclude<Closing['as'], 'PENDING'>,
  EventReason
>;
/** Before a payload that the nodes refused gets another nonce; doubles with each nonce that it lost in a row. */
const FIRST_REQUEUE_MS = 2_000;

/**
 * One request and its whole life after intake, or a fill. The only class that changes `state`. Every change leaves an event, which is
 * written in the same commit (docs/invariants.md, I10).
 */
export class ManagedTx {
  private readonly data: Mutable<TxProgress>;
  private readonly events: TxEvent[] = [];
  private resubmitTimer: Timer = 'keep';
  private receiptTimer: Timer = 'keep';
  private wasSubmitted = false;
  private entered: TxState | null = null;

  private constructor(progress: TxProgress) {
    this.data = { ...progress };
  }

  static rehydrate(progress: TxProgress): ManagedTx {
    return new ManagedTx(progress);
  }

  /**
   * A new fill. It holds its slot from the start.
   * @param replaces the tx that left its nonce free: see {@link leftNonceFree}
   */
  static fill(
    txId: string,
    signer: SignerId,
    nonce: Nonce,
    gasLimit: bigint,
    replaces: string | null = null,
  ): ManagedTx {
    const tx = new ManagedTx({
      txId,
      kind: 'fill',
      signer,
      state: 'ALLOCATED',
      subState: null,
      nonce,
      gasLimit,
      txHash: null,
      receipt: null,
      failureReason: null,
      closing: null,
      replaces,
      replacedBy: null,
      withdrawnReplacement: null,
      tries: 0,
      requeues: 0,
      lastError: null,
      version: 0,
    });
    tx.entered = 'ALLOCATED';
    tx.events.push({
      signer,
      txId,
      reason: 'nonce_reserved',
      from: null,
      to: 'ALLOCATED',
      detail: { kind: 'fill', nonce: nonce.toString(), gasLimit: gasLimit.toString() },
    });
    return tx;
  }

  get progress(): TxProgress {
    return this.data;
  }

  get id(): string {
    return this.data.txId;
  }

  get signer(): SignerId {
    return this.data.signer;
  }

  get kind(): TxKind {
    return this.data.kind;
  }

  /** An outside sender signs and sends it: Lockstep never does, but for the no-op of one that is closed. */
  get isHold(): boolean {
    return this.data.kind === 'hold';
  }

  get state(): TxState {
    return this.data.state;
  }

  get timers(): SubmitTimers {
    return { resubmit: this.resubmitTimer, receiptCheck: this.receiptTimer };
  }

  /** The state that this copy entered; null when only details changed. */
  get enteredState(): TxState | null {
    return this.entered;
  }

  get submitted(): boolean {
    return this.wasSubmitted;
  }

  /** @throws InvariantViolation before it is allocated */
  get nonce(): Nonce {
    if (this.data.nonce === null) throw new InvariantViolation('the transaction has no nonce', { txId: this.id });
    return this.data.nonce;
  }

  pendingEvents(): readonly TxEvent[] {
    return this.events;
  }

  /** Everything is written: the copy may be changed and saved again. */
  saved(): void {
    this.data.version += 1;
    this.noted();
    this.resubmitTimer = 'keep';
    this.receiptTimer = 'keep';
    this.wasSubmitted = false;
    this.entered = null;
  }

  /** The events are written. The row did not change. */
  noted(): void {
    this.events.length = 0;
  }

  allocated(nonce: Nonce, gasLimit: bigint): void {
    this.transition('ALLOCATED', 'nonce_reserved', {
      detail: { nonce: nonce.toString(), gasLimit: gasLimit.toString() },
    });
    this.data.nonce = nonce;
    this.data.gasLimit = gasLimit;
    this.data.subState = null;
    this.data.tries = 0;
    this.resubmitTimer = 'clear';
  }

  /**
   * A replacement gets the slot of a tx that may be out. It is due at once: its first send may be interrupted, and the tx that it replaces is
   * not sent any more.
   */
  competes(nonce: Nonce, gasLimit: bigint): void {
    this.allocated(nonce, gasLimit);
    this.resubmitTimer = { inMs: 0 };
  }

  /**
   * The database lost an attempt that was sent: the tx gets it back, with its nonce. One that is in flight looks for its receipt at once.
   * @param gasLimit of this attempt
   */
  recovered(nonce: Nonce, gasLimit: bigint, txHash: Hash): void {
    this.expectState('PENDING', 'ALLOCATED', 'IN_MEMPOOL');
    const found = { txHash, detail: { nonce: nonce.toString(), gasLimit: gasLimit.toString() } };
    if (this.data.state !== 'PENDING') {
      if (this.data.state === 'IN_MEMPOOL') this.receiptTimer = { inMs: 0 };
      this.record('nonce_recovered', found);
      return;
    }
    this.transition('ALLOCATED', 'nonce_recovered', found);
    this.data.txHash = txHash;
    this.data.nonce = nonce;
    this.data.gasLimit = gasLimit;
    this.data.subState = null;
    this.resubmitTimer = 'clear';
  }

  /** Tries in a row, up to now, that ended in this sub state. */
  equalTries(subState: TxSubState | null): number {
    return this.data.subState === subState ? this.data.tries : 0;
  }

  /** Not possible for now. It is tried again later. */
  postponed(subState: TxSubState | null, retryInMs: number, error: string, counts = true): void {
    this.expectState('PENDING', 'ALLOCATED');
    this.tried(subState, error, counts);
    this.resubmitTimer = { inMs: retryInMs };
  }

  get isUnsigned(): boolean {
    return this.data.subState === 'SIGNER_UNAVAILABLE';
  }

  /** Its custody does not sign for now: it keeps its slot, and the lane tries again. */
  unsigned(): void {
    this.expectState('ALLOCATED');
    this.tried('SIGNER_UNAVAILABLE', 'the custody of its signer does not sign', false);
  }

  /** The outside sender of a hold has sent a transaction, or says so: from now on only the chain ends it. */
  usedBy(txHash: Hash): void {
    this.expectState('ALLOCATED', 'IN_MEMPOOL');
    if (this.data.state === 'ALLOCATED') this.transition('IN_MEMPOOL', 'sent', { txHash });
    else this.record(this.isClosing ? 'sent' : 'updated', { txHash });
    this.data.txHash = txHash;
    this.count(this.closingSubState, null);
    this.receiptTimer = { inMs: 0 };
  }

  /** The nonce of a hold is used, and no endpoint names by what. */
  usedByUnknown(): void {
    this.transition('IN_MEMPOOL', 'sent', { txHash: null });
    this.count('NONCE_SYNC', null);
    this.receiptTimer = { inMs: 0 };
  }

  /** Another transaction has its nonce, and nothing of it was sent with it: it waits for another one. */
  passedOn(error: string): void {
    this.expectState('ALLOCATED');
    const { nonce, txHash } = this.data;
    this.transition('PENDING', 'updated', {
      txHash,
      error,
      detail: { subState: 'NONCE_SYNC', nonce: nonce?.toString() ?? null },
    });
    this.waitsForNonce();
    this.tried('NONCE_SYNC', error);
    this.resubmitTimer = { inMs: 0 };
  }

  /** Nodes refused the gas of its attempts, or what it costs. Those that it gets from now on have this. */
  wantsGas(gasLimit: bigint): void {
    this.expectState('ALLOCATED', 'IN_MEMPOOL');
    this.data.gasLimit = gasLimit;
  }

  /** Signed again for the same slot, with fees that a node may accept. For a payload only while no attempt is out. */
  repriced({ txHash, ...bytes }: NewBytes): void {
    if (this.data.kind === 'fill') this.expectState('ALLOCATED', 'IN_MEMPOOL');
    else this.expectState('ALLOCATED');
    this.data.txHash = txHash;
    this.record('gas_bumped', { txHash, detail: bumpOf(bytes) });
  }

  /**
   * Signed again for the same slot at a higher price, while an earlier attempt may be out: any of them may be mined.
   * @param sendInMs when the new bytes are sent at the latest, because this node may die before it sends them
   */
  bumped({ txHash, ...bytes }: NewBytes, sendInMs: number): void {
    this.expectState('IN_MEMPOOL');
    this.data.txHash = txHash;
    this.record('gas_bumped', { txHash, detail: bumpOf(bytes) });
    this.count(this.closingSubState ?? 'STALE', null);
    this.resubmitTimer = { inMs: sendInMs };
  }

  /** A pool would accept only a price above the caps. What is out is sent again, until the market falls. */
  feeCapped(reason: string): void {
    this.expectState('IN_MEMPOOL');
    this.tried('FEE_CAPPED', reason);
  }

  /** The price is high enough for the market again. */
  feeSuffices(): void {
    this.expectState('IN_MEMPOOL');
    this.count('STALE', null);
    this.record('updated', { detail: { subState: 'STALE' } });
  }

  /** Adds an event and changes no column: the attempt is stored in its own row, and the row of the tx names it when it is sent. */
  signed(txHash: Hash, fees: { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }): void {
    this.expectState('ALLOCATED');
    this.data.txHash = txHash;
    this.record('signed', { txHash, detail: feesOf(fees) });
  }

  /** A node accepted an attempt, or may have accepted it (I6). */
  sent(attempt: Hash, subState: TxSubState | null, timers: SubmitTimers, error: string | null, counts = true): void {
    this.expectState('ALLOCATED');
    this.transition('IN_MEMPOOL', 'sent', { txHash: attempt, error });
    this.setTimers(timers);
    this.data.txHash = attempt;
    this.data.requeues = 0;
    this.count(subState, error, counts);
  }

  /** An attempt was sent again: the same bytes. A price that is at its cap stays there until {@link feeSuffices} or {@link bumped}. */
  resubmitted(
    attempt: Hash,
    subState: TxSubState | null,
    timers: SubmitTimers,
    error: string | null,
    counts = true,
  ): void {
    this.expectState('IN_MEMPOOL');
    this.setTimers(timers);
    this.data.txHash = attempt;
    const isStillCapped = subState === 'STALE' && this.data.subState === 'FEE_CAPPED';
    this.count(this.closingSubState ?? (isStillCapped ? 'FEE_CAPPED' : subState), error, counts);
    this.record('resubmitted', { txHash: attempt, error });
  }

  /** No attempt has a receipt that decides anything yet. It is checked again later. `unclear`: what is wrong with one that there is. */
  receiptMissing(askAgainInMs: number, unclear: string | null = null): void {
    this.receiptTimer = { inMs: askAgainInMs };
    if (unclear !== null) this.data.lastError = unclear;
  }

  /**
   * An attempt may be out, and the payload is no longer wanted, or no node takes it: a no-op closes the slot, unless the payload is mined first.
   * Its client may cancel it while it only waits for another nonce ({@link isBeingRequeued}); every other slot that is being closed keeps its
   * end.
   */
  close(as: Closing['as'], reason: string): void {
    const overrides = as === 'CANCELLED' && this.isBeingRequeued;
    if (this.data.state === 'MINED' && overrides) {
      this.record('updated', { error: reason, detail: { subState: null } });
      this.closesAs({ as, reason, won: true });
      return;
    }
    this.expectState('ALLOCATED', 'IN_MEMPOOL');
    const kept = overrides ? null : this.data.closing;
    this.closesAs(kept ?? { as, reason, won: false });
    const { as: becomes } = this.data.closing ?? { as };
    const isRefused = becomes !== 'CANCELLED';
    const subState = isRefused ? 'REFUSED' : 'CANCELLING';
    const detail = isRefused ? { subState, becomes } : { subState };
    const said = { txHash: this.data.txHash, error: reason, detail };
    // Of a hold nobody knows whether its sender has sent something.
    const begun = this.isHold ? 'updated' : 'sent';
    if (this.data.state === 'ALLOCATED') this.transition('IN_MEMPOOL', isRefused ? 'refused' : begun, said);
    else this.record(isRefused ? 'refused' : 'updated', said);
    this.count(subState, reason);
    this.resubmitTimer = { inMs: 0 };
    this.receiptTimer = { inMs: 0 };
  }

  get isClosing(): boolean {
    return this.data.state === 'IN_MEMPOOL' && this.data.closing !== null;
  }

  /** Nodes refused it for now, again and again: its payload gets another nonce when a no-op has used this one for good. */
  get isBeingRequeued(): boolean {
    const { closing, state } = this.data;
    return closing?.as === 'PENDING' && (state === 'IN_MEMPOOL' || (state === 'MINED' && closing.won));
  }

  /** Another transaction may have used the nonce: a node reports the nonce as used, the slot is being closed, or an outside sender signs for it. */
  get isInDoubt(): boolean {
    const { state, subState } = this.data;
    return state === 'IN_MEMPOOL' && (subState === 'NONCE_SYNC' || this.isClosing || this.isHold);
  }

  /** A no-op for the same slot was signed, and competes with the payload. */
  competitorSigned(txHash: Hash): void {
    this.expectState('IN_MEMPOOL');
    this.data.txHash = txHash;
    this.record('competitive_sent', { txHash });
  }

  /**
   * A foreign transaction used the nonce for good: no attempt can be mined, and the payload waits for another nonce.
   * @param usedBy hash of that transaction, if it is known
   */
  foreignTxUsedNonce(usedBy: Hash | null): void {
    this.expectState('IN_MEMPOOL');
    const { nonce, closing, kind } = this.data;
    const detail = { nonce: nonce?.toString() ?? null, usedBy };
    // A hold never gets another nonce: its sender has signed for this one.
    if (kind !== 'payload') {
      this.endUnsent('DROPPED', 'dropped', 'a foreign transaction used its nonce', detail);
      return;
    }
    const { replacedBy } = this.data;
    if (replacedBy !== null) {
      this.endUnsent('REPLACED', 'replaced', 'a foreign transaction used its nonce', { ...detail, replacedBy });
      return;
    }
    if (this.isWithdrawn) {
      this.endUnsent('FAILED', 'failed', this.data.failureReason ?? '', detail);
      return;
    }
    // The tx only waited for its slot to be closed.
    if (closing !== null && closing.as !== 'PENDING') {
      this.endUnsent(closing.as, END_REASONS[closing.as], closing.reason, detail);
      return;
    }
    this.transition('PENDING', 'nonce_synced', { txHash: this.data.txHash, detail });
    this.waitsForNonce();
    this.count(null, null);
  }

  /** @param kind of the mined attempt: only a payload fulfils the request */
  mined(receipt: Receipt, kind: 'payload' | 'no-op' = 'payload'): void {
    this.transition('MINED', 'mined', {
      txHash: receipt.txHash,
      block: blockOf(receipt),
      detail: {
        ...paidOf(receipt),
        ...appended({ from: receipt.blockNumber, to: receipt.blockNumber, hash: receipt.blockHash }),
      },
    });
    this.data.receipt = receipt;
    this.data.txHash = receipt.txHash;
    this.count(null, null);
    const won = kind === 'no-op';
    const closing = this.data.closing ?? (won ? { as: 'FAILED', reason: 'a no-op used its nonce' } : null);
    this.data.closing = closing && { ...closing, won };
    this.data.failureReason = won && closing?.as !== 'PENDING' ? (closing?.reason ?? null) : null;
    this.resubmitTimer = 'clear';
    this.receiptTimer = 'clear';
  }

  /** The receipt of the same block differs from the stored one. The tx stays MINED until two answers agree. */
  receiptChanged(receipt: Receipt): void {
    this.expectState('MINED');
    this.record('updated', { txHash: receipt.txHash, block: blockOf(receipt), detail: paidOf(receipt) });
    this.data.receipt = receipt;
  }

  /**
   * Its block is deep enough: success becomes CONFIRMED, a revert FAILED (I9).
   * @param above the known blocks above its own; null when there is none
   */
  settled(revertReason: string, head: BlockRef | null): void {
    const { receipt } = this.data;
    if (!receipt) {
      throw new InvariantViolation('cannot settle a transaction without a receipt', { txId: this.id });
    }
    const detail = { txHash: receipt.txHash, block: blockOf(receipt), detail: appended(blocksAbove(receipt, head)) };
    const { closing } = this.data;
    if (closing?.won) {
      this.lostToNoOp(closing, detail);
    } else if (receipt.status === 'success') {
      this.transition('CONFIRMED', 'confirmed', detail);
    } else {
      this.transition('FAILED', 'failed', { ...detail, error: revertReason });
      this.data.failureReason = revertReason;
    }
    this.data.replacedBy = null;
    this.data.withdrawnReplacement = null;
  }

  /** A no-op used its nonce for good, so nothing of it can be mined. Its payload waits for another one, if it is still wanted. */
  private lostToNoOp({ as, reason: error }: Closing, block: EventDetail): void {
    if (as !== 'PENDING') {
      this.transition(as, END_REASONS[as], { ...block, error });
      this.data.failureReason = error;
      return;
    }
    const subState = 'NODE_REFUSED';
    const nonce = this.nonce.toString();
    this.transition('PENDING', 'updated', { ...block, error, detail: { ...block.detail, subState, nonce } });
    this.waitsForNonce();
    this.data.receipt = null;
    this.count(subState, error);
    this.resubmitTimer = { inMs: backoffMs(FIRST_REQUEUE_MS, this.data.requeues, LONGEST_REQUEUE_MS) };
    this.data.requeues += 1;
  }

  /** Its execution failed in a final block: its chain may have left the nonce free. */
  get mayHaveLeftNonceFree(): boolean {
    const { state, receipt } = this.data;
    return (state === 'FAILED' || state === 'CANCELLED') && receipt?.status === 'reverted';
  }

  /** The chain left its nonce free, and a fill gets it. It stays ended, but its bytes are valid again, and compete with the fill. */
  leftNonceFree(fill: string): void {
    this.record('updated', { detail: { filledBy: fill } });
    this.data.replacedBy = fill;
  }

  /**
   * After {@link mayHaveLeftNonceFree}, of it or of what it competed with, a later block executed it after all. It follows the chain; but nothing
   * of it is sent again, because its client was told that it had ended.
   */
  executedAfterAll(receipt: Receipt, kind: 'payload' | 'no-op', isFilled: boolean): void {
    const { failureReason, closing } = this.data;
    // Else it rests for the fill.
    if (!isFilled) this.data.replacedBy = null;
    this.reorged();
    if (closing === null && !isFilled)
      this.closesAs({ as: 'FAILED', reason: failureReason ?? 'execution reverted', won: false });
    this.mined(receipt, kind);
  }

  /** A reorg orphaned its block, so the same bytes are sent again. Also for a final tx, if the reorg is that deep. */
  reorged(): void {
    const { receipt, txHash } = this.data;
    this.transition('IN_MEMPOOL', 'reorg_detected', {
      txHash,
      block: receipt && blockOf(receipt),
      detail: { newFork: true, confirmations: null },
    });
    // The reason of a revert belongs to the orphaned block. The closing of a slot goes on.
    const { closing } = this.data;
    this.data.receipt = null;
    if (closing) this.closesAs({ ...closing, won: false });
    else this.data.failureReason = null;
    this.watchedAgain('REORG_DETECTED');
  }

  /** Whether another tx competes with this one for its slot, or did. */
  get mayHaveRivals(): boolean {
    const { replaces, replacedBy, withdrawnReplacement } = this.data;
    return replaces !== null || replacedBy !== null || withdrawnReplacement !== null;
  }

  /**
   * The attempts that decide about it: its own, and in a race those of all that compete for the slot. Another tx may have had the slot before
   * and have moved on; its attempts are no concern of this one. Nor are those of a tx that left its nonce free to a fill: they have a receipt,
   * which decides nothing about the nonce.
   */
  attemptsAmong(ofSlot: readonly Attempt[]): Attempt[] {
    return this.mayHaveRivals && this.kind === 'payload' ? [...ofSlot] : ofSlot.filter(({ txId }) => txId === this.id);
  }

  /** Another tx of its slot is sent in its place, or was mined: it is only watched. Or every endpoint refused it ({@link isWithdrawn}). */
  get isResting(): boolean {
    return this.data.subState === 'REPLACING' && this.data.state !== 'PENDING';
  }

  /** A replacement was signed for the same slot. From now on the replacement is sent again, and this tx is only watched. */
  raced(replacement: ManagedTx): void {
    this.expectState('ALLOCATED', 'IN_MEMPOOL');
    const { txHash } = replacement.progress;
    if (this.data.state === 'ALLOCATED') this.transition('IN_MEMPOOL', 'sent', { txHash: this.data.txHash });
    this.record('competitive_sent', { txHash, detail: { subState: 'REPLACING', replacedBy: replacement.id } });
    this.data.replacedBy = replacement.id;
    this.count('REPLACING', null);
    this.resubmitTimer = 'clear';
    this.receiptTimer = { inMs: 0 };
  }

  /**
   * A replacement that every endpoint refused, and that may be out all the same: what it replaces is sent again in its place, and whichever is
   * mined decides.
   */
  withdrawn(reason: string): void {
    this.expectState('ALLOCATED', 'IN_MEMPOOL');
    const said = {
      txHash: this.data.txHash,
      error: reason,
      detail: { subState: 'REPLACING', becomes: 'FAILED' },
    };
    if (this.data.state === 'ALLOCATED') this.transition('IN_MEMPOOL', 'refused', said);
    else this.record('refused', said);
    this.data.failureReason = reason;
    this.count('REPLACING', reason);
    this.resubmitTimer = 'clear';
    this.receiptTimer = { inMs: 0 };
  }

  get isWithdrawn(): boolean {
    return this.isResting && this.data.failureReason !== null && this.data.closing === null;
  }

  /** Every endpoint refused its replacement, so this tx is sent again; if it is mined, only after a reorg. */
  raceWithdrawn(replacement: string): void {
    this.expectState('IN_MEMPOOL', 'MINED');
    this.record('updated', { detail: { subState: null, replacedBy: null } });
    this.data.replacedBy = null;
    this.data.withdrawnReplacement = replacement;
    if (this.data.state === 'IN_MEMPOOL') this.watchedAgain(null);
  }

  /** Another tx of the same slot was mined, in a block that a reorg may still orphan: nothing is sent until then. */
  rivalMined(): void {
    this.expectState('ALLOCATED', 'IN_MEMPOOL');
    this.count('REPLACING', null);
    this.resubmitTimer = 'clear';
    this.receiptTimer = 'clear';
  }

  /** A reorg orphaned the block of the other tx: the race goes on. */
  rivalOrphaned(): void {
    this.expectState('ALLOCATED', 'IN_MEMPOOL');
    if (this.isWithdrawn) this.receiptTimer = { inMs: 0 };
    else this.watchedAgain('REORG_DETECTED');
  }

  /**
   * Another tx of the same slot was mined, and its block is final.
   * @param as `DROPPED`: it was to replace the other one; if every endpoint had refused it, it FAILED
   * @param winner id of the other tx
   * @param receipt of the other tx: a reorg that orphans its block opens the race again
   */
  lostRace(as: 'REPLACED' | 'DROPPED', winner: string, receipt: Receipt): void {
    const block = { txHash: receipt.txHash, block: blockOf(receipt) };
    if (as === 'REPLACED') {
      const replacedBy = this.data.replacedBy ?? winner;
      this.transition('REPLACED', 'replaced', { ...block, error: null, detail: { replacedBy } });
      this.data.replacedBy = replacedBy;
      this.data.failureReason = null;
    } else if (this.isWithdrawn) {
      this.transition('FAILED', 'failed', { ...block, error: this.data.failureReason });
    } else {
      const error = 'the transaction that it replaces was mined';
      this.transition('DROPPED', 'dropped', { ...block, error, detail: null });
      this.data.failureReason = error;
    }
    this.data.receipt = receipt;
    this.data.withdrawnReplacement = null;
    this.data.subState = null;
    this.resubmitTimer = 'clear';
    this.receiptTimer = 'clear';
  }

  /** After {@link reorged}: the replacement competes for the slot again. */
  racesAgain(replacedBy: string): void {
    this.expectState('IN_MEMPOOL');
    this.data.replacedBy = replacedBy;
    this.data.withdrawnReplacement = null;
    this.watchedAgain('REORG_DETECTED');
  }

  /** A client cancelled it before anything of it was sent. The caller releases the slot, if there is one. */
  cancelled(reason: string): void {
    this.expectState('PENDING', 'ALLOCATED');
    this.endUnsent('CANCELLED', 'cancelled', reason);
    this.data.failureReason = reason;
  }

  /** A replacement took its place before anything of it was sent. */
  replacedUnsent(replacement: string): void {
    this.expectState('PENDING', 'ALLOCATED');
    this.endUnsent('REPLACED', 'replaced', 'replaced before it was sent', { replacedBy: replacement });
    this.data.replacedBy = replacement;
  }

  /**
   * A replacement that never competed, because the tx that it replaces had ended, or could not be replaced any more. Or a hold that gets no nonce: FAILED
   * says of a hold that what was sent with it was reverted.
   */
  dropped(reason: string): void {
    this.expectState('PENDING');
    this.endUnsent('DROPPED', 'dropped', reason);
    this.data.failureReason = reason;
  }

  /** A replacement whose original waits without a nonce, and ends: it takes its place in the queue. */
  entersQueue(): void {
    this.expectState('PENDING');
    this.record('updated', { detail: { subState: null } });
    this.count(null, null);
    this.resubmitTimer = { inMs: 0 };
  }

  /** Its request was replaced while it was waiting. */
  edited(requestId: string): void {
    this.expectState('PENDING');
    this.record('updated', { detail: { replacedPayload: true, requestId } });
    // A replacement goes on waiting for its race.
    this.count(this.data.subState === 'REPLACING' ? 'REPLACING' : null, null);
    this.resubmitTimer = { inMs: 0 };
  }

  /** It can never be executed, and nothing of it was sent. The caller releases the slot, if there is one. */
  failed(reason: string): void {
    this.expectState('PENDING', 'ALLOCATED');
    this.endUnsent('FAILED', 'failed', reason);
    this.data.failureReason = reason;
  }

  /** Its `expiresAt` passed before it was sent. The caller releases the slot, if there is one. */
  expired(): void {
    this.expectState('PENDING', 'ALLOCATED');
    this.endUnsent('DROPPED', 'dropped', 'expired before it was sent');
  }

  private endUnsent(state: TxState, reason: EventReason, error: string, detail: JsonObject | null = null): void {
    this.transition(state, reason, { txHash: this.data.txHash, error, detail });
    this.data.subState = null;
    this.resubmitTimer = 'clear';
    this.receiptTimer = 'clear';
  }

  /** Sent again at once, unless a replacement is sent in its place. */
  private watchedAgain(subState: TxSubState | null): void {
    const isRaced = this.data.replacedBy !== null;
    this.count(isRaced ? 'REPLACING' : subState, null);
    this.resubmitTimer = isRaced ? 'clear' : { inMs: 0 };
    this.receiptTimer = { inMs: 0 };
  }

  private closesAs(closing: Closing): void {
    this.data.closing = closing;
    this.data.failureReason = closing.as === 'PENDING' ? null : closing.reason;
  }

  /** The sub state of a slot that is being closed; null of every other. */
  private get closingSubState(): TxSubState | null {
    if (!this.isClosing) return null;
    return this.data.closing?.as === 'CANCELLED' ? 'CANCELLING' : 'REFUSED';
  }

  private waitsForNonce(): void {
    this.data.nonce = null;
    this.data.txHash = null;
    this.data.closing = null;
    this.data.withdrawnReplacement = null;
    this.resubmitTimer = 'clear';
    this.receiptTimer = 'clear';
  }

  /** Adds an event only for another sub state than before, because an endless wait would add events without end. */
  private tried(subState: TxSubState | null, error: string, counts = true): void {
    const changed = this.data.subState !== subState;
    this.count(subState, error, counts);
    if (changed && this.enteredState === null) this.record('updated', { error, detail: { subState } });
  }

  private count(subState: TxSubState | null, error: string | null, counts = true): void {
    this.data.tries = error === null ? 0 : this.equalTries(subState) + (counts ? 1 : 0);
    this.data.subState = subState;
    this.data.lastError = error;
  }

  private setTimers(timers: SubmitTimers): void {
    this.resubmitTimer = timers.resubmit;
    this.receiptTimer = timers.receiptCheck;
    this.wasSubmitted = true;
  }

  /** The only line that writes `state`. It comes first in every method, because a refused call must change nothing. */
  private transition(to: TxState, reason: EventReason, detail: EventDetail): void {
    const from = this.data.state;
    if (!canTransition(from, to, this.data.receipt !== null)) {
      throw new Conflict(
        'illegal_transition',
        `a transaction that is ${from} cannot become ${to}`,
        'read its current state',
        { txId: this.id, state: from },
      );
    }
    this.data.state = to;
    this.entered = to;
    this.events.push({ signer: this.signer, txId: this.id, reason, from, to, ...detail });
  }

  private record(reason: EventReason, detail: EventDetail): void {
    const { state } = this.data;
    this.events.push({ signer: this.signer, txId: this.id, reason, from: state, to: state, ...detail });
  }

  private expectState(...states: readonly TxState[]): void {
    if (!states.includes(this.state)) {
      throw new Conflict(
        'illegal_transition',
        `not possible for a transaction that is ${this.state}`,
        'read its current state',
        { txId: this.id, state: this.state },
      );
    }
  }
}

function feesOf(fees: { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }): JsonObject {
  return {
    maxFeePerGas: fees.maxFeePerGas.toString(),
    maxPriorityFeePerGas: fees.maxPriorityFeePerGas.toString(),
  };
}

function bumpOf({ fees, gasLimit }: Omit<NewBytes, 'txHash'>): JsonObject {
  return { ...feesOf(fees), gasLimit: gasLimit.toString() };
}

/** Null when there is none. */
function blocksAbove({ blockNumber }: Receipt, head: BlockRef | null): ConfirmationRange | null {
  return head && head.number > blockNumber ? { from: blockNumber + 1, to: head.number, hash: head.hash } : null;
}

function appended(range: ConfirmationRange | null): JsonObject {
  return { newFork: false, confirmations: range && { ...range } };
}

/** What the event log keeps of a receipt, beside its block. */
function paidOf({ status, gasUsed, effectiveGasPrice, contractAddress }: Receipt): JsonObject {
  return {
    status,
    gasUsed: gasUsed?.toString() ?? null,
    effectiveGasPrice: effectiveGasPrice?.toString() ?? null,
    contractAddress,
  };
}

function blockOf({ blockNumber, blockHash }: Receipt): { readonly number: number; readonly hash: Hash } {
  return { number: blockNumber, hash: blockHash };
}
