import type { Receipt } from '../../chain/index.js';
import type { EventReason, TxEvent } from '../../events/index.js';
import { Conflict, InvariantViolation } from '../../../kernel/errors.js';
import type { Hash } from '../../../kernel/hex.js';
import type { JsonObject } from '../../../kernel/json.js';
import type { Nonce, SignerId } from '../../../kernel/signer-id.js';
import { canTransition, type TxState, type TxSubState } from './tx-state-machine.js';

/** A timer of a tx: set to so many milliseconds from now by the database clock, cleared, or left as it is. */
export type Timer = { readonly inMs: number } | 'clear' | 'keep';

/** What happens next after a send. */
export interface SubmitTimers {
  readonly resubmit: Timer;
  readonly receiptCheck: Timer;
}

/** Everything about a managed tx that changes. */
export interface TxProgress {
  readonly txId: string;
  readonly signer: SignerId;
  readonly state: TxState;
  readonly subState: TxSubState | null;
  readonly nonce: Nonce | null;
  /** Gas of the attempts; resolved before a nonce is taken. */
  readonly gasLimit: bigint | null;
  /** The current attempt, or the one that was mined. */
  readonly txHash: Hash | null;
  readonly receipt: Receipt | null;
  readonly failureReason: string | null;
  /** How often in a row it was tried and came to the same `subState`. */
  readonly tries: number;
  /** What the last try was answered with; null after one that went well. */
  readonly lastError: string | null;
  /** Grows with every save; a save of an outdated copy is refused. */
  readonly version: number;
}

/**
 * Confirmations that are new to whoever listens: the blocks `from` to `to` of the branch that ends in `hash` (rows of
 * `chain_block`, linked by parent hash). After an event with `newFork` everything told before is void.
 */
export interface ConfirmationRange {
  readonly from: number;
  readonly to: number;
  readonly hash: Hash;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type EventDetail = Pick<TxEvent, 'txHash' | 'block' | 'error' | 'detail'>;

/**
 * One client request and its whole life after intake. The only place that changes `state`; every change leaves an event,
 * which the repository writes in the same commit.
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

  get progress(): TxProgress {
    return this.data;
  }

  get id(): string {
    return this.data.txId;
  }

  get signer(): SignerId {
    return this.data.signer;
  }

  get state(): TxState {
    return this.data.state;
  }

  get timers(): SubmitTimers {
    return { resubmit: this.resubmitTimer, receiptCheck: this.receiptTimer };
  }

  /** The state this copy moved to; null when only details changed. */
  get enteredState(): TxState | null {
    return this.entered;
  }

  get submitted(): boolean {
    return this.wasSubmitted;
  }

  /** @throws InvariantViolation before it is allocated */
  get nonce(): Nonce {
    if (this.data.nonce === null)
      throw new InvariantViolation('a transaction without a nonce was asked for it', { txId: this.id });
    return this.data.nonce;
  }

  pendingEvents(): readonly TxEvent[] {
    return this.events;
  }

  /** The repository has written everything; the copy may be used and saved again. */
  saved(): void {
    this.data.version += 1;
    this.noted();
    this.resubmitTimer = 'keep';
    this.receiptTimer = 'keep';
    this.wasSubmitted = false;
  }

  /** The repository has written the events; the row is as it was. */
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
   * Bytes of it are out that the database had lost: they are its attempt, and their nonce is its own.
   * @param gasLimit of these bytes
   */
  recovered(nonce: Nonce, gasLimit: bigint, txHash: Hash): void {
    this.expectState('PENDING', 'ALLOCATED');
    const found = { txHash, detail: { nonce: nonce.toString(), gasLimit: gasLimit.toString() } };
    if (this.data.state === 'ALLOCATED') {
      this.record('nonce_recovered', found);
      return;
    }
    this.transition('ALLOCATED', 'nonce_recovered', found);
    this.data.nonce = nonce;
    this.data.gasLimit = gasLimit;
    this.data.subState = null;
    this.resubmitTimer = 'clear';
  }

  /** Tries in a row that came to this, up to now. */
  equalTries(subState: TxSubState | null): number {
    return this.data.subState === subState ? this.data.tries : 0;
  }

  /** Not possible for now; it is tried again after a while. */
  postponed(subState: TxSubState | null, retryInMs: number, error: string): void {
    this.expectState('PENDING', 'ALLOCATED');
    this.tried(subState, error);
    this.resubmitTimer = { inMs: retryInMs };
  }

  /** Nothing of it is out, and its slot is free: it waits for another nonce. */
  requeued(subState: TxSubState, retryInMs: number, error: string): void {
    this.expectState('ALLOCATED');
    const { nonce, txHash } = this.data;
    this.transition('PENDING', 'updated', { txHash, error, detail: { subState, nonce: nonce?.toString() ?? null } });
    this.waitsForNonce();
    this.tried(subState, error);
    this.resubmitTimer = { inMs: retryInMs };
  }

  /** Signed again for the same slot, with fees that a node may take; nothing of it was out before. */
  repriced(txHash: Hash, fees: { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }): void {
    this.expectState('ALLOCATED');
    this.data.txHash = txHash;
    this.record('gas_bumped', { txHash, detail: feesOf(fees) });
  }

  /** An event and no change: the attempt is where the bytes are, and the row names it when it is sent. */
  signed(txHash: Hash, fees: { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }): void {
    this.expectState('ALLOCATED');
    this.data.txHash = txHash;
    this.record('signed', { txHash, detail: feesOf(fees) });
  }

  /** An attempt was accepted by a node, or may have been (I6). */
  sent(attempt: Hash, subState: TxSubState | null, timers: SubmitTimers, error: string | null, counts = true): void {
    this.expectState('ALLOCATED');
    this.transition('IN_MEMPOOL', 'sent', { txHash: attempt, error });
    this.setTimers(timers);
    this.data.txHash = attempt;
    this.count(subState, error, counts);
  }

  /** The same bytes went out again. */
  resubmitted(
    attempt: Hash,
    subState: TxSubState | null,
    timers: SubmitTimers,
    error: string | null,
    counts = true,
  ): void {
    this.expectState('IN_MEMPOOL');
    this.setTimers(timers);
    this.count(this.isClosing ? 'CANCELLING' : subState, error, counts);
    this.record('resubmitted', { txHash: attempt, error });
  }

  /** No attempt of ours has a receipt yet; ask again later. */
  receiptMissing(askAgainInMs: number): void {
    this.receiptTimer = { inMs: askAgainInMs };
  }

  /** Refused for good, but an attempt may be out: its slot is closed by a no-op, and the chain decides which of them won. */
  closing(reason: string): void {
    this.expectState('ALLOCATED', 'IN_MEMPOOL');
    if (this.data.state === 'ALLOCATED')
      this.transition('IN_MEMPOOL', 'sent', { txHash: this.data.txHash, error: reason });
    else this.record('updated', { error: reason, detail: { subState: 'CANCELLING' } });
    this.data.failureReason = reason;
    this.count('CANCELLING', reason);
    this.resubmitTimer = { inMs: 0 };
    this.receiptTimer = { inMs: 0 };
  }

  get isClosing(): boolean {
    return this.data.state === 'IN_MEMPOOL' && this.data.failureReason !== null;
  }

  /** A node says that its nonce is used, or its slot is being closed: something that is not ours may have the nonce. */
  get isInDoubt(): boolean {
    return this.data.state === 'IN_MEMPOOL' && (this.data.subState === 'NONCE_SYNC' || this.isClosing);
  }

  /** A no-op for the same slot was signed, and competes with the payload. */
  competitorSigned(txHash: Hash): void {
    this.expectState('IN_MEMPOOL');
    this.data.txHash = txHash;
    this.record('competitive_sent', { txHash });
  }

  /**
   * A transaction that is not ours has the nonce for good: none of the attempts can ever be mined, and the payload waits for another.
   *
   * @param usedBy that transaction, if it is known
   */
  nonceTaken(usedBy: Hash | null): void {
    this.expectState('IN_MEMPOOL');
    const { nonce, failureReason } = this.data;
    const detail = { nonce: nonce?.toString() ?? null, usedBy };
    // It was only waiting for its slot to be closed.
    if (failureReason !== null) {
      this.endUnsent('FAILED', 'failed', failureReason);
      return;
    }
    this.transition('PENDING', 'nonce_synced', { txHash: this.data.txHash, detail });
    this.waitsForNonce();
    this.count(null, null);
  }

  /** @param kind of the attempt that was mined: only a payload fulfils the request */
  mined(receipt: Receipt, kind: 'payload' | 'no-op' = 'payload'): void {
    const { txHash, status, gasUsed } = receipt;
    this.transition('MINED', 'mined', {
      txHash,
      block: blockOf(receipt),
      detail: {
        status,
        gasUsed: gasUsed.toString(),
        ...appended({ from: receipt.blockNumber, to: receipt.blockNumber, hash: receipt.blockHash }),
      },
    });
    this.data.receipt = receipt;
    this.data.txHash = txHash;
    this.count(null, null);
    // A no-op may come after the payload, which a reorg took back: then nobody knows any more why the slot was closed.
    this.data.failureReason = kind === 'payload' ? null : (this.data.failureReason ?? 'a no-op took its nonce');
    this.resubmitTimer = 'clear';
    this.receiptTimer = 'clear';
  }

  /** Read again, the receipt of the same block says something else; it stays MINED until two answers agree. */
  receiptChanged(receipt: Receipt): void {
    this.expectState('MINED');
    const { status, gasUsed, txHash } = receipt;
    this.record('updated', { txHash, block: blockOf(receipt), detail: { status, gasUsed: gasUsed.toString() } });
    this.data.receipt = receipt;
  }

  /**
   * Its block is deep enough: success is CONFIRMED, a revert is FAILED (I9).
   * @param above the blocks on top of its own, as far as they are known; null when there is none
   */
  settled(revertReason: string, above: ConfirmationRange | null): void {
    const { receipt } = this.data;
    if (!receipt) {
      throw new InvariantViolation('a transaction without a receipt was settled', { txId: this.id });
    }
    const detail = { txHash: receipt.txHash, block: blockOf(receipt), detail: appended(above) };
    // Set when it was the no-op that was mined.
    const refusal = this.data.failureReason;
    if (refusal === null && receipt.status === 'success') {
      this.transition('CONFIRMED', 'confirmed', detail);
    } else {
      const error = refusal ?? revertReason;
      this.transition('FAILED', 'failed', { ...detail, error });
      this.data.failureReason = error;
    }
  }

  /** Its block is no longer on the chain; the same bytes are sent again. Also for a final one, when the reorg is that deep. */
  reorged(): void {
    const { receipt, txHash } = this.data;
    this.transition('IN_MEMPOOL', 'reorg_detected', {
      txHash,
      block: receipt && blockOf(receipt),
      detail: { newFork: true, confirmations: null },
    });
    // The reason of a revert goes with its block; the reason why a slot is being closed stays.
    if (receipt?.status === 'reverted') this.data.failureReason = null;
    this.data.receipt = null;
    this.count('REORG_DETECTED', null);
    this.resubmitTimer = { inMs: 0 };
    this.receiptTimer = { inMs: 0 };
  }

  /** Refused for good. The caller frees the slot, if there was one, and only with proof that nothing is out. */
  failed(reason: string): void {
    this.expectState('PENDING', 'ALLOCATED', 'IN_MEMPOOL');
    this.endUnsent('FAILED', 'failed', reason);
    this.data.failureReason = reason;
  }

  /** Its `expiresAt` passed before it was sent. */
  expired(): void {
    this.expectState('PENDING');
    this.endUnsent('DROPPED', 'dropped', 'expired before it was sent');
  }

  private endUnsent(state: TxState, reason: EventReason, error: string): void {
    this.transition(state, reason, { txHash: this.data.txHash, error });
    this.data.subState = null;
    this.resubmitTimer = 'clear';
    this.receiptTimer = 'clear';
  }

  private waitsForNonce(): void {
    this.data.nonce = null;
    this.data.txHash = null;
    this.resubmitTimer = 'clear';
    this.receiptTimer = 'clear';
  }

  /** An event only when it is another thing than before, or an endless wait would write endless events. */
  private tried(subState: TxSubState | null, error: string): void {
    const changed = this.data.subState !== subState;
    this.count(subState, error);
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

  /** The only line that writes `state`. Comes first in every method: a refused call must change nothing. */
  private transition(to: TxState, reason: EventReason, detail: EventDetail): void {
    const from = this.data.state;
    if (!canTransition(from, to, this.data.receipt !== null)) {
      throw new Conflict(
        'illegal_transition',
        `a transaction that is ${from} cannot become ${to}`,
        'read its present state',
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
        'read its present state',
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

function appended(range: ConfirmationRange | null): JsonObject {
  return { newFork: false, confirmations: range && { ...range } };
}

function blockOf({ blockNumber, blockHash }: Receipt): { readonly number: number; readonly hash: Hash } {
  return { number: blockNumber, hash: blockHash };
}
