import { Injectable } from '@nestjs/common';
import { ExecutionConfig } from '../../../config/lockstep-config.js';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { InFlightLimits, LaneMemory, TxQueue } from '../../ledger/index.js';
import { Custody, type Lease, NonceLedger } from '../../signers/index.js';

/** How many txs a lane has room for, and after which position of its queue to read. */
interface LaneRoom {
  readonly lease: Lease;
  readonly signer: SignerId;
  readonly room: number;
  readonly after: ReturnType<LaneMemory['queueStart']>;
}

/**
 * The room of each lane: what is left of `maxInFlight` or of a lower learnt limit, and at most a batch. Where only outside senders can close a nonce gap,
 * there is room for one in any case: nothing that is in flight above the gap can be mined before, however low the limit has become.
 */
@Injectable()
export class LaneRooms {
  constructor(
    private readonly queue: TxQueue,
    private readonly memory: LaneMemory,
    private readonly limits: InFlightLimits,
    private readonly config: ExecutionConfig,
    private readonly custody: Custody,
    private readonly ledger: NonceLedger,
  ) {}

  /** @returns those of the lanes that have room */
  async of(leases: readonly Lease[]): Promise<LaneRoom[]> {
    const { maxInFlight, batchSize } = this.config;
    const roomOf = (lease: Lease): number =>
      Math.min(batchSize, this.limits.ofLease(lease) - (this.memory.inFlight(lease) ?? maxInFlight));
    const short = leases.filter((lease) => roomOf(lease) < batchSize && this.memory.mayCountInFlight(lease));
    const counts = await this.queue.countInFlight(
      short.map((lease) => lease.signer),
      maxInFlight,
    );
    short.forEach((lease, index) => this.memory.countedInFlight(lease, counts[index] ?? maxInFlight));
    const full = leases.filter((lease) => roomOf(lease) < 1).map(({ signer }) => signer);
    const gaps = await this.ledger.gaps(full.filter((signer) => this.custody.isExternal(signer)));
    const withGap = new Set(gaps.map(({ signer }) => signerKey(signer)));
    return leases
      .map((lease) => ({
        lease,
        signer: lease.signer,
        room: withGap.has(signerKey(lease.signer)) ? 1 : roomOf(lease),
        after: this.memory.queueStart(lease),
      }))
      .filter(({ room }) => room > 0);
  }
}
