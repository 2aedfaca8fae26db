import { Injectable } from '@nestjs/common';
import { EventLog } from '../../../events/index.js';
import { type Fence, FencedUnitOfWork, type Lease, leasesFor, NonceLedger } from '../../../signers/index.js';
import { AttemptRepository } from '../../domain/attempt.repository.js';
import { ManagedTxRepository } from '../../domain/managed-tx.repository.js';
import { AfterCommit } from './after-commit.js';
import { type ChangeSet, savedIn, signersIn } from './change-set.js';

/** Reads under the fence, aligns cursors where needed, and returns what to write. */
export type ChangesUnderFence = (fence: Fence) => Promise<ChangeSet>;

/**
 * The only class that writes txs, attempts and slots after intake. It writes a change set in one order, in one transaction under the leases
 * of all its signers. It appends the events in the same commit (docs/invariants.md, I2 and I10). After the commit it notifies metrics, lane
 * memory and doorbell.
 */
@Injectable()
export class WriteChanges {
  constructor(
    private readonly unitOfWork: FencedUnitOfWork,
    private readonly repository: ManagedTxRepository,
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
    const changes = await this.unitOfWork.run(leases, operation, async (fence) => {
      const wanted = await changesOf(fence);
      await this.write(fence, wanted);
      return wanted;
    });
    for (const tx of changes.noted ?? []) tx.noted();
    this.afterCommit.notify(changes);
    for (const tx of savedIn(changes)) tx.saved();
    return changes;
  }

  /** Attempts are inserted after their slots are held, and before slots are released. A part without a change costs no statement. */
  private async write(fence: Fence, changes: ChangeSet): Promise<void> {
    const { fills = [], txs = [], noted = [], slots = {}, attempts = {} } = changes;
    const { ledger, repository } = this;
    const each = async <Item>(items: readonly Item[] = [], work: (items: readonly Item[]) => Promise<void>) => {
      if (items.length > 0) await work(items);
    };
    await each(slots.held, (held) => ledger.hold(fence, held, slots.cursors ?? []));
    await each(slots.adopted, (adopted) => ledger.adopt(fence, adopted));
    await each(slots.filled, (filled) => ledger.fill(fence, filled));
    await each(slots.handedOver, (handedOver) => ledger.handOver(fence, handedOver));
    await each(slots.reopened, (reopened) => ledger.reopen(fence, reopened));
    await each(fills, (made) => repository.insertFills(fence, made));
    await each(attempts.inserted, (inserted) => this.attempts.insert(fence, inserted));
    await each(attempts.resent, (resent) => this.attempts.aboutToSend(fence, resent));
    await each(attempts.answered, (answered) => this.attempts.recordOutcomes(fence, answered));
    await each(attempts.decided, (decided) => this.attempts.decide(fence, decided));
    await each(attempts.reopened, (reopened) => this.attempts.reopen(fence, reopened));
    await each(slots.consumed, (consumed) => ledger.consume(fence, consumed));
    await each(slots.released, (released) => ledger.release(fence, released));
    await each(slots.forgotten, (forgotten) => ledger.forget(fence, forgotten));
    await each(txs, (saved) => repository.save(fence, saved));
    const events = [...savedIn(changes), ...noted].flatMap((tx) => tx.pendingEvents());
    await each(events, (appended) => this.events.append(fence.tx, fence, appended));
  }
}
