import { Injectable } from '@nestjs/common';
import { signersOf } from '../../../../kernel/signer-id.js';
import { EventLog } from '../../../events/index.js';
import {
  type Fence,
  FencedUnitOfWork,
  type Lease,
  leasesFor,
  NonceLedger,
  type SlotRef,
} from '../../../signers/index.js';
import { AttemptRepository } from '../../domain/attempt.repository.js';
import type { ManagedTx } from '../../domain/managed-tx.js';
import { TxWriter } from '../../domain/tx-writer.js';
import { AfterCommit } from './after-commit.js';
import { type ChangeSet, savedIn, signersIn } from './change-set.js';

/** Reads under the fence, aligns cursors where needed, and returns what to write. */
export type ChangesUnderFence = (fence: Fence) => Promise<ChangeSet>;

/**
 * The only class that writes txs, attempts and slots under leases. It writes a change set in one order, in one transaction under the leases of
 * all its signers, and appends the events in the same commit (docs/invariants.md, I2 and I10). After the commit it notifies metrics, lane
 * memory and doorbell. After a failure everything that is remembered of the signers is in doubt (docs/invariants.md, F6).
 *
 * `changesOf` may write in the same transaction what decides about the change set: {@link NonceLedger.align}, `openFree` and `freeMissing`,
 * {@link AuthorizationStore}, {@link PermitStore}, {@link FundsRepository.markLow}, {@link LostCommitsRepository.reconciled}, and the end of a command that its bump
 * carries out. Without a lease write {@link TxIntake}, {@link CommandedTxs} (what waits, under the lock of its row)
 * and retention (what is over).
 */
@Injectable()
export class WriteChanges {
  constructor(
    private readonly unitOfWork: FencedUnitOfWork,
    private readonly writer: TxWriter,
    private readonly attempts: AttemptRepository,
    private readonly ledger: NonceLedger,
    private readonly events: EventLog,
    private readonly afterCommit: AfterCommit,
  ) {}

  /**
   * @param leases leases of this node; those of the signers in the change set are checked
   * @param operation names the write in logs and in `lease_fenced_total{op}`
   * @throws LeaseLost with the leases that this node lost; then nothing is written
   * @throws Conflict `stale_copy` when a tx was changed since it was read; then nothing is written
   * @throws InvariantViolation when the lease of a signer in the change set is missing; then nothing is written
   */
  async execute(leases: readonly Lease[], operation: string, changes: ChangeSet): Promise<void> {
    const signers = signersIn(changes);
    if (signers.length === 0) return;
    await this.underFence(leasesFor(leases, signers), operation, () => Promise.resolve(changes));
  }

  /**
   * Like `execute`, for changes that depend on what is read under the fence.
   * @param leases all of them are checked
   * @returns what was written
   */
  async underFence(leases: readonly Lease[], operation: string, changesOf: ChangesUnderFence): Promise<ChangeSet> {
    const changes = await this.commit(leases, operation, changesOf);
    for (const tx of changes.noted ?? []) tx.noted();
    this.afterCommit.notify(changes);
    for (const tx of savedIn(changes)) tx.saved();
    return changes;
  }

  /**
   * Like `underFence`, for txs that wait without a nonce: a client may change them meanwhile. They are locked until the commit.
   * @param changesOf gets the ids of those that are PENDING still, that nobody changed since they were read, and that nobody is changing
   */
  ofPending(
    leases: readonly Lease[],
    operation: string,
    waiting: readonly ManagedTx[],
    changesOf: (locked: ReadonlySet<string>, fence: Fence) => ChangeSet | Promise<ChangeSet>,
  ): Promise<ChangeSet> {
    return this.underFence(leases, operation, async (fence) =>
      changesOf(await this.writer.lockPending(fence, waiting), fence),
    );
  }

  /**
   * Makes the receipt checks of all txs that the signers have in the mempool due now. Runs one transaction per page, because a signer may have
   * more txs in flight than one statement can change in its time.
   */
  async receiptsDue(leases: readonly Lease[], operation: string): Promise<void> {
    const signers = leases.map(({ signer }) => signer);
    const page: { after: SlotRef | null } = { after: null };
    do
      await this.underFence(leases, operation, async (fence) => {
        page.after = await this.writer.markReceiptsDue(fence, signers, page.after);
        return {};
      });
    while (page.after !== null);
  }

  /** An answer to a commit can be lost: what failed may have happened. */
  private async commit(leases: readonly Lease[], operation: string, changesOf: ChangesUnderFence): Promise<ChangeSet> {
    try {
      return await this.unitOfWork.run(leases, operation, async (fence) => {
        const wanted = await changesOf(fence);
        await this.write(fence, wanted);
        return wanted;
      });
    } catch (error) {
      this.afterCommit.inDoubt(leases.map(({ signer }) => signer));
      throw error;
    }
  }

  /** Attempts are inserted after their slots are held, and before slots are released. A part without a change costs no statement. */
  private async write(fence: Fence, changes: ChangeSet): Promise<void> {
    const {
      fills = [],
      txs = [],
      noted = [],
      slots = {},
      attempts = {},
      postponed,
      fundsArrived,
      roomCame = [],
    } = changes;
    const { ledger, writer } = this;
    const each = async <Item>(items: readonly Item[] = [], work: (items: readonly Item[]) => Promise<void>) => {
      if (items.length > 0) await work(items);
    };
    await each(slots.vacated, async (vacated) => {
      await ledger.release(fence, vacated);
      await writer.vacate(fence, vacated);
    });
    await each(slots.held, (held) => ledger.hold(fence, held, slots.cursors ?? []));
    await each(slots.adopted, (adopted) => ledger.adopt(fence, adopted));
    await each(slots.filled, (filled) => ledger.fill(fence, filled));
    await each(slots.handedOver, (handedOver) => ledger.handOver(fence, handedOver));
    await each(slots.reopened, (reopened) => ledger.reopen(fence, reopened));
    await each(attempts.inserted, (inserted) => this.attempts.insert(fence, inserted));
    await each(attempts.resent, (resent) => this.attempts.aboutToSend(fence, resent));
    await each(attempts.answered, (answered) => this.attempts.recordOutcomes(fence, answered));
    await each(attempts.decided, (decided) => this.attempts.decide(fence, decided));
    await each(attempts.reopened, (reopened) => this.attempts.reopen(fence, reopened));
    await each(slots.consumed, (consumed) => ledger.consume(fence, consumed));
    await each(slots.released, (released) => ledger.release(fence, released));
    await each(slots.forgotten, (forgotten) => ledger.forget(fence, forgotten));
    await each(txs, (saved) => writer.save(fence, saved));
    // A fill may have the nonce that a saved tx gave up.
    await each(fills, (made) => writer.insertFills(fence, made));
    if (postponed) await writer.postpone(fence, postponed);
    await each(fundsArrived, (signers) => writer.makeFundedDue(fence, signers));
    // What they had reserved of the daily amounts comes back, or a part of it.
    const ended = [slots.vacated, slots.consumed, slots.released, slots.forgotten].flatMap((some = []) => some);
    await each(signersOf([...ended, ...roomCame.map((signer) => ({ signer }))]), (signers) =>
      writer.makeHeldDue(fence, signers),
    );
    const events = [...savedIn(changes), ...noted].flatMap((tx) => tx.pendingEvents());
    await each(events, (appended) => this.events.append(fence.tx, fence, appended));
  }
}
