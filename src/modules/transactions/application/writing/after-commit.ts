import { Injectable } from '@nestjs/common';
import { type SignerId, signersOf } from '../../../../kernel/signer-id.js';
import { actionOf } from '../../../chain/index.js';
import type { ManagedTx } from '../../domain/managed-tx.js';
import { isFinal } from '../../domain/tx-state-machine.js';
import { type ChangeSet, savedIn } from './change-set.js';
import { BumpWatch } from './bump-watch.js';
import { Doorbell } from './doorbell.js';
import { InFlightLimits } from './in-flight-limits.js';
import { LaneMemory } from './lane-memory.js';
import { TxMetrics } from './tx-metrics.js';

/**
 * Notifies the rest of this node, and the nodes that act for the signers, of a commit. A lost notification costs only time: polling finds
 * all work.
 */
@Injectable()
export class AfterCommit {
  constructor(
    private readonly metrics: TxMetrics,
    private readonly memory: LaneMemory,
    private readonly bumps: BumpWatch,
    private readonly doorbell: Doorbell,
    private readonly limits: InFlightLimits,
  ) {}

  notify(changes: ChangeSet): void {
    const changed = savedIn(changes);
    const left = signersOf(changed.filter(leftFlight));
    const { released = [], freed = [] } = changes.slots ?? {};
    this.metrics.entered(changed);
    for (const { signer } of [...released, ...freed]) this.memory.gapOpened(signer);
    for (const signer of withDoubtfulNonce(changes)) this.memory.distrustNonce(signer);
    this.memory.noncesAllocated(newlyInFlight(changes).map(({ signer }) => signer));
    this.memory.madeRoom(left);
    this.limits.madeRoom(left);
    this.bumps.sent(signersOf(changed.filter(({ enteredState }) => enteredState === 'IN_MEMPOOL')));
    this.doorbell.ring([...left, ...signersOf(freed)]);
  }
}

/** Txs that got a slot. A replacement gets that of a tx that is in flight already. */
function newlyInFlight(changes: ChangeSet): ManagedTx[] {
  const raced = new Set((changes.slots?.handedOver ?? []).map(({ txId }) => txId));
  return savedIn(changes).filter(({ id, enteredState }) => enteredState === 'ALLOCATED' && !raced.has(id));
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
