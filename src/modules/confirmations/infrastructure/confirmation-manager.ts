import { Injectable } from '@nestjs/common';
import { type ChainConfig, chainInForce, LockstepConfig } from '../../../config/index.js';
import { Clock } from '../../../kernel/clock.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Tickers } from '../../../platform/scheduling/tickers.js';
import { ChainScheduler, HeadTracker, NewHeads } from '../../chain/index.js';
import { LeaseManager } from '../../signers/index.js';
import { ApplyChainUpdate } from '../application/apply-chain-update.js';
import { HeadTrackingDuty } from '../application/head-tracking-duty.js';

/** Poll intervals between two polls while heads are announced: polling then only covers heads that the socket lost. */
const POLL_INTERVALS_WITH_SOCKET = 10;

/** Runs the head tracker of each chain that this node follows: when a head is announced, and every `pollInterval`. */
@Injectable()
export class ConfirmationManager extends ChainScheduler {
  private readonly pollIntervals: ReadonlyMap<ChainId, number>;
  private readonly trackedAt = new Map<ChainId, number>();

  constructor(
    private readonly tracker: HeadTracker,
    private readonly apply: ApplyChainUpdate,
    private readonly newHeads: NewHeads,
    private readonly duty: HeadTrackingDuty,
    private readonly leases: LeaseManager,
    private readonly clock: Clock,
    config: LockstepConfig,
    tickers: Tickers,
  ) {
    const intervalMs = (chain: ChainConfig): number => chainInForce(chain, config).pollInterval.value;
    super({ name: 'follow', intervalMs, config, tickers });
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
    this.trackedAt.set(chainId, startedAt);
    const isNew = await this.tracker.execute(chainId, (update) => this.apply.execute(update));
    if (!isNew && this.tracker.isStalled(chainId)) await this.apply.lookAtBooks(chainId);
    // The step took longer than the poll interval, so the next block is probably there already.
    if (isNew && this.clock.monotonicMs() - startedAt > this.pollIntervalOf(chainId)) this.kick(chainId);
  }

  /**
   * True while the announced head is already followed and the last poll is recent. The endpoint may learn of a head later than the socket.
   */
  private mayRest(chainId: ChainId): boolean {
    const announced = this.newHeads.latest(chainId);
    if (announced === null) return false;
    if (this.tracker.hashAt(chainId, announced.number) !== announced.hash) return false;
    const trackedAt = this.trackedAt.get(chainId) ?? Number.NEGATIVE_INFINITY;
    return this.clock.monotonicMs() - trackedAt < POLL_INTERVALS_WITH_SOCKET * this.pollIntervalOf(chainId);
  }

  private pollIntervalOf(chainId: ChainId): number {
    return this.pollIntervals.get(chainId) ?? 0;
  }
}
