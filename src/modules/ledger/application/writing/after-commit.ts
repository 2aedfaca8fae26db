import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../../kernel/group-by.js';
import { signerKey, type SignerId, signersOf } from '../../../../kernel/signer-id.js';
import { Metrics } from '../../../../platform/metrics/metrics.js';
import { actionOf } from '../../../chain/index.js';
import type { ManagedTx } from '../../domain/managed-tx.js';
import { isFinal } from '../../domain/tx-state-machine.js';
import { type ChangeSet, savedIn } from './change-set.js';
import { BumpWatch } from './bump-watch.js';
import { Doorbell } from './doorbell.js';
import { InFlightLimits } from './in-flight-limits.js';
import { LaneMemory } from './lane-memory.js';

/**
 * Notifies the rest of this node, and the nodes that act for the signers, of a commit. A lost notification costs only time: polling finds
 * all work.
 */
@Injectable()
export class AfterCommit {
  constructor(
    private readonly metrics: Metrics,
    private readonly memory: LaneMemory,
    private readonly bumps: BumpWatch,
    private readonly doorbell: Doorbell,
    private readonly limits: InFlightLimits,
  ) {}

  notify(changes: ChangeSet): void {
    const changed = savedIn(changes);
    const left = signersOf(changed.filter(leftFlight));
    const { released = [], freed = [] } = changes.slots ?? {};
    for (const { enteredState } of changed)
      if (enteredState !== null) this.metrics.count('tx_state_total', 1, { state: enteredState });
    for (const { signer } of [...released, ...freed]) this.memory.gapOpened(signer);
    for (const signer of withDoubtfulNonce(changes)) this.memory.distrustNonce(signer);
    this.memory.reserved(changes.slots?.held ?? []);
    this.memory.sumUpAgain(mayExceedReserves(changes));
    this.memory.noncesAllocated(newlyInFlight(changes).map(({ signer }) => signer));
    this.learnFromBlocks(changed);
    this.memory.madeRoom(left);
    this.limits.madeRoom(left);
    this.bumps.sent(signersOf(changed.filter(({ enteredState }) => enteredState === 'IN_MEMPOOL')));
    this.doorbell.ring([...left, ...signersOf(freed)]);
  }

  private learnFromBlocks(changed: readonly ManagedTx[]): void {
    for (const { signer, enteredState, progress } of changed)
      if (enteredState === 'IN_MEMPOOL' && progress.nonce !== null) this.limits.sent(signer, progress.nonce);
    const mined = changed.flatMap(({ signer, enteredState, progress: { receipt, nonce } }) =>
      enteredState === 'MINED' && receipt && nonce !== null ? [{ signer, nonce, block: receipt.blockNumber }] : [],
    );
    for (const own of groupBy(mined, ({ signer, block }) => `${signerKey(signer)} ${block}`).values()) {
      const { signer, block, nonce } = own.reduce((a, b) => (b.nonce > a.nonce ? b : a));
      const inFlight = this.memory.inFlightOf(signer);
      this.limits.mined(signer, nonce, { block, count: own.length, inFlight });
    }
  }

  /** A write failed, and may have happened all the same: nobody was told what it changed. What is remembered of its signers is read anew. */
  inDoubt(signers: readonly SignerId[]): void {
    this.memory.forget(signers);
    this.limits.mayHaveRoom(signers);
    this.bumps.lookAgain(signers);
  }
}

/** Txs that got a slot. A replacement gets that of a tx that is in flight already. */
function newlyInFlight(changes: ChangeSet): ManagedTx[] {
  const raced = new Set((changes.slots?.handedOver ?? []).map(({ txId }) => txId));
  return savedIn(changes).filter(({ id, enteredState }) => enteredState === 'ALLOCATED' && !raced.has(id));
}

/**
 * Signers whose txs in flight may cost more of the daily amounts than is reserved: one of them came back after a reorg, a sent transaction was found, or
 * a slot has a competitor. What gets a new slot, and a bump, has its reserve before that.
 */
function mayExceedReserves(changes: ChangeSet): SignerId[] {
  const { slots = {}, attempts = {} } = changes;
  return signersOf([
    ...savedIn(changes).filter((tx) => tx.pendingEvents().some(({ reason }) => reason === 'reorg_detected')),
    ...(attempts.inserted ?? []).filter(({ pricedAtBlock }) => pricedAtBlock === null),
    ...(slots.handedOver ?? []),
  ]);
}

/** The tx had a nonce and no longer needs it, or waits for another one. */
function leftFlight(tx: ManagedTx): boolean {
  const { enteredState, timers } = tx;
  if (enteredState === 'MINED') return true;
  if (enteredState === 'PENDING') return timers.resubmit === 'clear';
  const { nonce, receipt } = tx.progress;
  return enteredState !== null && isFinal(enteredState) && nonce !== null && receipt === null;
}

/** Signers whose nonce must be read from the chain before the next allocation. */
function withDoubtfulNonce({ slots = {}, attempts = {} }: ChangeSet): SignerId[] {
  const foreign = (slots.consumed ?? []).filter(({ txHash }) => txHash === null);
  const calledUsed = (attempts.answered ?? []).filter(
    ({ errorClass }) => errorClass !== null && actionOf(errorClass).response === 'check_receipts',
  );
  return signersOf([
    ...foreign,
    ...(slots.freed ?? []),
    ...(slots.forgotten ?? []),
    ...calledUsed.map(({ attempt }) => attempt),
  ]);
}
