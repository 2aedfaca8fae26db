import { Injectable } from '@nestjs/common';
import { type ChainConfig, LockstepConfig } from '../../../config/lockstep-config.js';
import { Clock } from '../../../kernel/clock.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { ChainScheduler, HeadTracker, NewHeads } from '../../chain/index.js';
import { LeaseManager } from '../../signers/index.js';
import { ApplyChainUpdate } from '../application/apply-chain-update.js';
import { HeadTrackingDuty } from '../application/head-tracking-duty.js';

/** Polls in between are left out while heads are announced: a net for what a socket loses, not a second way to hear of it. */
const NET_INTERVALS = 10;

/** When: looks at the head of each chain that is this node's to follow when one is announced, and every `pollInterval`. */
@Injectable()
export class ConfirmationManager extends ChainScheduler {
  private readonly pollIntervals: ReadonlyMap<ChainId, number>;
  private readonly lookedAt = new Map<ChainId, number>();

  constructor(
    private readonly follow: HeadTracker,
    private readonly apply: ApplyChainUpdate,
    private readonly newHeads: NewHeads,
    private readonly duty: HeadTrackingDuty,
    private readonly leases: LeaseManager,
    private readonly clock: Clock,
    config: LockstepConfig,
    log: Log,
  ) {
    const intervalMs = ({ pollInterval }: ChainConfig): number => pollInterval;
    super({ name: 'follow', intervalMs, config, log });
    this.pollIntervals = new Map(config.chains.map((chain) => [chain.id, intervalMs(chain)]));
  }

  override onApplicationBootstrap(): void {
    super.onApplicationBootstrap();
    if (!this.role.acts) return;
    this.newHeads.start((chainId) => this.kick(chainId));
    this.leases.onFirstOf((chainId) => this.kick(chainId));
  }

  protected override async tick(chainId: ChainId): Promise<void> {
    if (!(await this.duty.isDue(chainId)) || this.mayRest(chainId)) return;
    const startedAt = this.clock.monotonicMs();
    this.lookedAt.set(chainId, startedAt);
    const isNew = await this.follow.execute(chainId, (update) => this.apply.execute(update));
    // A large block, or a long way to go: the next block is there already.
    if (isNew && this.clock.monotonicMs() - startedAt > this.pollIntervalOf(chainId)) this.kick(chainId);
  }

  /** The announced head is followed already: the endpoint that is read from may get to know of it later than the socket. */
  private mayRest(chainId: ChainId): boolean {
    const announced = this.newHeads.latest(chainId);
    if (announced === null) return false;
    if (this.follow.hashAt(chainId, announced.number) !== announced.hash) return false;
    const lookedAt = this.lookedAt.get(chainId) ?? Number.NEGATIVE_INFINITY;
    return this.clock.monotonicMs() - lookedAt < NET_INTERVALS * this.pollIntervalOf(chainId);
  }

  private pollIntervalOf(chainId: ChainId): number {
    return this.pollIntervals.get(chainId) ?? 0;
  }
}
