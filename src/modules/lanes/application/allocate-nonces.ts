import { Injectable } from '@nestjs/common';
import { ExecutionConfig } from '../../../config/lockstep-config.js';
import { CrashPoints } from '../../../kernel/crash-points.js';
import { InvariantViolation } from '../../../kernel/errors.js';
import { groupBy } from '../../../kernel/group-by.js';
import { signerKey } from '../../../kernel/signer-id.js';
import {
  type Fence,
  FencedUnitOfWork,
  grantNonces,
  type Lease,
  leasesFor,
  NonceLedger,
  type SequenceState,
  type SlotHolder,
  type SlotRef,
} from '../../signers/index.js';
import { LaneMemory, ManagedTx, ManagedTxRepository, type RequestedTx, TxMetrics } from '../../transactions/index.js';
import { CommittedCursors } from '../../lost-commits/index.js';
import type { ReadyTx } from './prepare-pending.js';

interface Allocation {
  readonly txs: readonly ManagedTx[];
  readonly slots: readonly SlotHolder[];
  readonly cursor: { readonly from: SequenceState; readonly to: bigint };
}

/**
 * Binds nonces in one fenced transaction: alignment, cursor, slots, txs and events stand or fall together, so the first
 * alignment of a signer cannot race its first allocation.
 */
@Injectable()
export class AllocateNonces {
  constructor(
    private readonly unitOfWork: FencedUnitOfWork,
    private readonly ledger: NonceLedger,
    private readonly repository: ManagedTxRepository,
    private readonly config: ExecutionConfig,
    private readonly cursors: CommittedCursors,
    private readonly memory: LaneMemory,
    private readonly metrics: TxMetrics,
    private readonly crashPoints: CrashPoints,
  ) {}

  /** @param chainNonces what the chain says for signers that need alignment, asked before */
  async execute(
    leases: readonly Lease[],
    ready: readonly ReadyTx[],
    chainNonces: readonly SlotRef[],
  ): Promise<RequestedTx[]> {
    const covered = leasesFor(leases, [
      ...ready.map(({ tx }) => tx.signer),
      ...chainNonces.map(({ signer }) => signer),
    ]);
    if (covered.length === 0) return [];
    const allocated = await this.unitOfWork.run(covered, 'allocate', (fence) =>
      this.allocate(fence, covered, ready, chainNonces),
    );
    this.cursors.committed(allocated);
    this.crashPoints.reached('after_allocate');
    this.metrics.entered(allocated);
    this.memory.tookNonces(allocated.map(({ signer }) => signer));
    const requests = new Map(ready.map(({ tx, request }) => [tx.id, request]));
    return allocated.flatMap((tx) => {
      const request = requests.get(tx.id);
      return request ? [{ tx, request }] : [];
    });
  }

  private async allocate(
    fence: Fence,
    leases: readonly Lease[],
    ready: readonly ReadyTx[],
    chainNonces: readonly SlotRef[],
  ): Promise<ManagedTx[]> {
    await this.ledger.align(fence, chainNonces);
    if (ready.length === 0) return [];
    const waiting = await this.repository.lockPending(
      fence,
      ready.map(({ tx }) => tx.id),
    );
    const signers = leases.map((lease) => lease.signer);
    const sequences = await this.ledger.read(fence, signers, this.config.batchSize);
    this.cursors.expect(signers, new Map(sequences.map(({ signer, cursor }) => [signerKey(signer), cursor])));
    const bySigner = groupBy(
      ready.filter(({ tx }) => waiting.has(tx.id)),
      ({ tx }) => signerKey(tx.signer),
    );
    const allocations = sequences.map((sequence) =>
      allocateSequence(sequence, bySigner.get(signerKey(sequence.signer)) ?? []),
    );
    const txs = allocations.flatMap((allocation) => allocation.txs);
    if (txs.length !== waiting.size)
      throw new InvariantViolation('a signer without a cursor was to be allocated', {
        signers: leases.map(({ signer }) => signerKey(signer)),
      });
    await this.ledger.hold(
      fence,
      allocations.flatMap((allocation) => allocation.slots),
      allocations.map((allocation) => allocation.cursor),
    );
    await this.repository.save(fence, txs);
    return txs;
  }
}

function allocateSequence(sequence: SequenceState, ready: readonly ReadyTx[]): Allocation {
  const grant = grantNonces(sequence.cursor, sequence.released, ready.length);
  const txs = ready.map(({ tx, gasLimit }, index) => {
    const nonce = grant.nonces[index];
    if (nonce === undefined) throw new InvariantViolation('fewer nonces were granted than asked for');
    const copy = ManagedTx.rehydrate(tx.progress);
    copy.allocated(nonce, gasLimit);
    return copy;
  });
  return {
    txs,
    slots: txs.map((tx) => ({ signer: tx.signer, nonce: tx.nonce, txId: tx.id })),
    cursor: { from: sequence, to: grant.cursor },
  };
}
