import {
  type ChangeSet,
  kindOf,
  ManagedTx,
  ManagedTxRepository,
  type RequestedTx,
  WriteChanges,
} from '../../transactions/index.js';
import { Injectable } from '@nestjs/common';
import { ExecutionConfig } from '../../../config/lockstep-config.js';
import { CrashPoints } from '../../../kernel/crash-points.js';
import { InvariantViolation } from '../../../kernel/errors.js';
import { groupBy } from '../../../kernel/group-by.js';
import { signerKey } from '../../../kernel/signer-id.js';
import {
  type Fence,
  grantNonces,
  type Lease,
  leasesFor,
  NonceLedger,
  type SequenceState,
  type SlotHolder,
  type SlotRef,
} from '../../signers/index.js';
import { CommittedCursors } from '../../lost-commits/index.js';
import type { ReadyTx } from './prepare-pending.js';

interface Allocation {
  readonly txs: readonly ManagedTx[];
  readonly slots: readonly SlotHolder[];
  readonly cursor: { readonly from: SequenceState; readonly to: bigint };
}

/**
 * Allocates nonces in one fenced transaction: alignment, cursor, slots, txs and events are written together or not at all, so the first
 * alignment of a signer cannot race its first allocation.
 */
@Injectable()
export class AllocateNonces {
  constructor(
    private readonly ledger: NonceLedger,
    private readonly repository: ManagedTxRepository,
    private readonly write: WriteChanges,
    private readonly cursors: CommittedCursors,
    private readonly config: ExecutionConfig,
    private readonly crashPoints: CrashPoints,
  ) {}

  /** @param chainNonces the chain's nonces of signers that need alignment, read before the transaction (docs/invariants.md, I11) */
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
    const { txs: allocated = [] } = await this.write.underFence(covered, 'allocate', (fence) =>
      this.changes(fence, covered, ready, chainNonces),
    );
    this.cursors.committed(allocated);
    this.crashPoints.reached('after_allocate');
    const requests = new Map(ready.map(({ tx, request }) => [tx.id, request]));
    return allocated.flatMap((tx) => {
      const request = requests.get(tx.id);
      return request ? [{ tx, request }] : [];
    });
  }

  private async changes(
    fence: Fence,
    leases: readonly Lease[],
    ready: readonly ReadyTx[],
    chainNonces: readonly SlotRef[],
  ): Promise<ChangeSet> {
    await this.ledger.align(fence, chainNonces);
    if (ready.length === 0) return {};
    const waiting = await this.repository.lockForNonce(
      fence,
      ready.map(({ tx }) => tx),
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
      throw new InvariantViolation('cannot allocate nonces of a signer without a cursor', {
        signers: leases.map(({ signer }) => signerKey(signer)),
      });
    return {
      txs,
      slots: {
        held: allocations.flatMap((allocation) => allocation.slots),
        cursors: allocations.map((allocation) => allocation.cursor),
      },
    };
  }
}

/**
 * A tx that authorizes its own account uses two nonces: its own, and the next one for the authorization. {@link PoolTurns} lets nothing else
 * through with it. If its slot is closed by a no-op instead, the second nonce is unused, and found as a stalled nonce and filled.
 */
function withOwnNonce(cursor: bigint): ReturnType<typeof grantNonces> {
  return { nonces: [cursor], cursor: cursor + 2n };
}

function allocateSequence(sequence: SequenceState, ready: readonly ReadyTx[]): Allocation {
  const alone = ready.find(({ request }) => kindOf(request.payload) === 'alone');
  const grant = alone ? withOwnNonce(sequence.cursor) : grantNonces(sequence.cursor, sequence.released, ready.length);
  const txs = ready.map(({ tx, gasLimit }, index) => {
    const nonce = grant.nonces[index];
    if (nonce === undefined) throw new InvariantViolation('fewer nonces were granted than requested');
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
