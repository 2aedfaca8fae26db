import { type ChangeSet, LaneMemory, type ManagedTx, type RequestedTx, WriteChanges } from '../../ledger/index.js';
import { Injectable } from '@nestjs/common';
import { ExecutionConfig } from '../../../config/lockstep-config.js';
import { CrashPoints } from '../../../kernel/crash-points.js';
import { InvariantViolation } from '../../../kernel/errors.js';
import { groupBy } from '../../../kernel/group-by.js';
import { signerKey } from '../../../kernel/signer-id.js';
import { bisectOnFailure } from '../../../platform/scheduling/bisect-on-failure.js';
import type { ChainConnector } from '../../chain/index.js';
import { type Fence, type Lease, leasesFor, NonceLedger, type SlotRef } from '../../signers/index.js';
import { CommittedCursors } from '../../lost-commits/index.js';
import { AlignNonces } from '../../nonces/index.js';
import { allocateSequence } from './allocate-sequence.js';
import { NonceGate } from './nonce-gate.js';
import type { ReadyTx } from './prepare-pending.js';

/**
 * Allocates nonces in one fenced transaction: alignment, cursor, slots, reserves, txs and events are written together or not at all, so the first
 * alignment of a signer cannot race its first allocation.
 */
@Injectable()
export class AllocateNonces {
  constructor(
    private readonly align: AlignNonces,
    private readonly ledger: NonceLedger,
    private readonly gate: NonceGate,
    private readonly write: WriteChanges,
    private readonly cursors: CommittedCursors,
    private readonly memory: LaneMemory,
    private readonly config: ExecutionConfig,
    private readonly crashPoints: CrashPoints,
  ) {}

  /**
   * @param setAside called with each tx that cannot be written
   * @returns those that got a nonce
   */
  async execute(
    chain: ChainConnector,
    leases: readonly Lease[],
    all: readonly ReadyTx[],
    setAside: (poison: ReadyTx, error: unknown) => Promise<void>,
  ): Promise<RequestedTx[]> {
    const { nonces, held } = await this.align.execute(chain, leases);
    const aligned = new Set<string>();
    const ready = all.filter(({ tx }) => !held.has(signerKey(tx.signer)));
    const commit = async (piece: readonly ReadyTx[]): Promise<ManagedTx[]> => {
      const some = await this.commit(leases, piece, nonces);
      // For all signers, also those without a ready tx. Not earlier: what was not committed must be asked for again.
      for (const { signer } of nonces) aligned.add(signerKey(signer));
      return some;
    };
    const written = await bisectOnFailure(ready, commit, setAside);
    this.memory.aligned(leases.filter(({ signer }) => aligned.has(signerKey(signer))));
    // Some were not PENDING any more: changed by a request, or allocated by a commit whose answer was lost. In the second case
    // the next step must find them in the database.
    if (written.length < ready.length) this.memory.forget(ready.map(({ tx }) => tx.signer));
    const requests = new Map(ready.map(({ tx, request }) => [tx.id, request]));
    return written.filter(hasNonce).flatMap((tx) => {
      const request = requests.get(tx.id);
      return request ? [{ tx, request }] : [];
    });
  }

  /**
   * @param chainNonces the chain's nonces of signers that need alignment, read before the transaction (docs/invariants.md, I11)
   * @returns what changed: also what a policy turned away
   */
  private async commit(
    leases: readonly Lease[],
    ready: readonly ReadyTx[],
    chainNonces: readonly SlotRef[],
  ): Promise<ManagedTx[]> {
    const covered = leasesFor(leases, [
      ...ready.map(({ tx }) => tx.signer),
      ...chainNonces.map(({ signer }) => signer),
    ]);
    const { txs = [] } = await this.write.underFence(covered, 'allocate', (fence) =>
      this.changes(fence, covered, ready, chainNonces),
    );
    this.cursors.committed(txs.filter(hasNonce));
    this.crashPoints.reached('after_allocate');
    return [...txs];
  }

  private async changes(
    fence: Fence,
    leases: readonly Lease[],
    ready: readonly ReadyTx[],
    chainNonces: readonly SlotRef[],
  ): Promise<ChangeSet> {
    await this.ledger.align(fence, chainNonces);
    const { admitted, turnedAway, roomCame, needs } = await this.gate.admit(fence, ready);
    const signers = leases.map((lease) => lease.signer);
    const sequences = await this.ledger.read(fence, signers, this.config.batchSize);
    this.cursors.expect(signers, new Map(sequences.map(({ signer, cursor }) => [signerKey(signer), cursor])));
    const bySigner = groupBy(admitted, ({ tx }) => signerKey(tx.signer));
    const allocations = sequences.map((sequence) =>
      allocateSequence(sequence, bySigner.get(signerKey(sequence.signer)) ?? [], needs),
    );
    const txs = allocations.flatMap((allocation) => allocation.txs);
    // Payloads leave out the nonces that outside senders had, so these may be gaps now.
    for (const { signer } of sequences.filter(({ outside }) => outside.length > 0)) this.memory.gapOpened(signer);
    if (txs.length !== admitted.length)
      throw new InvariantViolation('cannot allocate nonces of a signer without a cursor', {
        signers: leases.map(({ signer }) => signerKey(signer)),
      });
    await this.ledger.openFree(
      fence,
      allocations.flatMap(({ free }) => free),
    );
    return {
      txs: [...txs, ...turnedAway],
      roomCame,
      slots: {
        held: allocations.flatMap((allocation) => allocation.slots),
        cursors: allocations.map((allocation) => allocation.cursor),
      },
    };
  }
}

function hasNonce({ progress }: ManagedTx): boolean {
  return progress.nonce !== null;
}
