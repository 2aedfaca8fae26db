import { InvariantViolation } from '../../../src/kernel/errors.js';
import { distinctSigners } from '../../../src/kernel/signer-id.js';
import { Fence, type Lease, type SlotRef, leasesFor } from '../../../src/modules/signers/index.js';
import {
  type ChangeSet,
  signersIn,
  type SlotChanges,
} from '../../../src/modules/ledger/application/writing/change-set.js';
import { type ChangesUnderFence, WriteChanges } from '../../../src/modules/ledger/application/writing/write-changes.js';
import type { Attempt, AttemptOutcome } from '../../../src/modules/ledger/domain/attempt.js';
import type { ManagedTx } from '../../../src/modules/ledger/domain/managed-tx.js';
import { fakeOf } from './fake-of.js';

interface Written {
  readonly operation: string;
  /** Fencing tokens of the leases that were checked. */
  readonly tokens: readonly bigint[];
  readonly changes: ChangeSet;
}

/** The door for writing, without a database: keeps what was handed over, in order. */
export class RecordedWrites implements Pick<WriteChanges, 'execute' | 'underFence' | 'ofPending' | 'receiptsDue'> {
  readonly written: Written[] = [];
  readonly receiptsAsked: { readonly leases: readonly Lease[]; readonly operation: string }[] = [];
  /** Runs before a change set is kept: to fail it, or to let something happen meanwhile. */
  onWrite: (changes: ChangeSet, operation: string) => void = () => undefined;
  /** Whether a waiting tx can be locked, by its id. */
  canLock: (txId: string) => boolean = () => true;

  async execute(leases: readonly Lease[], operation: string, changes: ChangeSet): Promise<void> {
    const signers = signersIn(changes);
    if (signers.length === 0) return;
    const covered = leasesFor(leases, signers);
    if (covered.length < distinctSigners(signers).length) throw new InvariantViolation('a lease is missing');
    await this.underFence(covered, operation, () => Promise.resolve(changes));
  }

  async underFence(leases: readonly Lease[], operation: string, changesOf: ChangesUnderFence): Promise<ChangeSet> {
    const changes = await changesOf(fakeOf(Fence, { tx: { open: true } }));
    this.onWrite(changes, operation);
    this.written.push({ operation, tokens: leases.map(({ token }) => token), changes });
    return changes;
  }

  ofPending(...[leases, operation, waiting, changesOf]: Parameters<WriteChanges['ofPending']>): Promise<ChangeSet> {
    const locked = new Set(waiting.map(({ id }) => id).filter(this.canLock));
    return this.underFence(leases, operation, async (fence) => changesOf(locked, fence));
  }

  async receiptsDue(leases: readonly Lease[], operation: string): Promise<void> {
    this.receiptsAsked.push({ leases, operation });
  }

  asDoor(): WriteChanges {
    return fakeOf(WriteChanges, this);
  }

  get operations(): string[] {
    return this.written.map(({ operation }) => operation);
  }

  /** Of all change sets, the txs that were saved. */
  get txs(): ManagedTx[] {
    return this.written.flatMap(({ changes }) => changes.txs ?? []);
  }

  get noted(): ManagedTx[] {
    return this.written.flatMap(({ changes }) => changes.noted ?? []);
  }

  get fills(): ManagedTx[] {
    return this.written.flatMap(({ changes }) => (changes.fills ?? []).map(({ tx }) => tx));
  }

  get inserted(): Attempt[] {
    return this.written.flatMap(({ changes }) => changes.attempts?.inserted ?? []);
  }

  get released(): SlotRef[] {
    return this.slots('released').map(({ signer, nonce }) => ({ signer, nonce }));
  }

  /** Of all change sets, the slots to which this happened. */
  slots(way: Exclude<keyof SlotChanges, 'cursors'>): SlotRef[] {
    return this.written.flatMap(({ changes }) => changes.slots?.[way] ?? []);
  }

  /** Of all change sets, the outcomes of sends. */
  get answered(): AttemptOutcome[] {
    return this.written.flatMap(({ changes }) => changes.attempts?.answered ?? []);
  }
}
