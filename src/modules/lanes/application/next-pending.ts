import { Injectable } from '@nestjs/common';
import { ExecutionConfig } from '../../../config/lockstep-config.js';
import { Clock } from '../../../kernel/clock.js';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import type { Lease } from '../../signers/index.js';
import {
  InFlightLimits,
  LaneMemory,
  ManagedTxRepository,
  type PendingTx,
  type QueuePosition,
  type SignerRoom,
} from '../../transactions/index.js';

/** How many txs a lane has room for, and after which position of its queue to read. */
type LaneRoom = SignerRoom & { readonly lease: Lease; readonly after: QueuePosition | null };

/** Reads the next waiting txs of each lane, as many as `maxInFlight`, and the limits of the pools, leave room for. */
@Injectable()
export class NextPending {
  constructor(
    private readonly repository: ManagedTxRepository,
    private readonly config: ExecutionConfig,
    private readonly memory: LaneMemory,
    private readonly limits: InFlightLimits,
    private readonly clock: Clock,
  ) {}

  async execute(leases: readonly Lease[]): Promise<PendingTx[]> {
    const rooms = await this.rooms(leases);
    const startedAtMs = this.clock.monotonicMs();
    const pending = await this.repository.nextPending(rooms);
    const tookMs = this.clock.monotonicMs() - startedAtMs;
    const last = new Map(
      pending
        .filter(({ wasTried }) => !wasTried)
        .map(({ tx, request }) => [signerKey(tx.signer), { priority: request.priority, txId: tx.id }]),
    );
    for (const { lease, after } of rooms)
      this.memory.queueRead(lease, after, tookMs, last.get(signerKey(lease.signer)) ?? null);
    return pending;
  }

  /** Some of what was read stays in the queues of these signers. */
  leftWaiting(signers: readonly SignerId[]): void {
    this.memory.rereadQueue(signers);
  }

  /** The room of each lane: what is left of `maxInFlight` or of a lower learnt limit, and at most a batch. */
  private async rooms(leases: readonly Lease[]): Promise<LaneRoom[]> {
    const { maxInFlight, batchSize } = this.config;
    const roomOf = (lease: Lease): number =>
      Math.min(batchSize, this.limits.ofLease(lease) - (this.memory.inFlight(lease) ?? maxInFlight));
    const short = leases.filter((lease) => roomOf(lease) < batchSize && this.memory.mayCountInFlight(lease));
    const counts = await this.repository.countInFlight(
      short.map((lease) => lease.signer),
      maxInFlight,
    );
    short.forEach((lease, index) => this.memory.countedInFlight(lease, counts[index] ?? maxInFlight));
    return leases
      .map((lease) => ({ lease, signer: lease.signer, room: roomOf(lease), after: this.memory.queueStart(lease) }))
      .filter(({ room }) => room > 0);
  }
}
