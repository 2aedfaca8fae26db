import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { LockstepConfig } from '../../../config/lockstep-config.js';
import { Clock } from '../../../kernel/clock.js';
import { type ChainId, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { ChainScheduler } from '../../chain/index.js';
import { EventLoopLoad } from '../../../platform/scheduling/event-loop-load.js';
import { LeaseManager, Router, SignerWorkers } from '../../signers/index.js';
import { LanePace } from './lane-pace.js';
import { LaneQueue } from './lane-queue.js';
import { LaneMemory, ManagedTxRepository, type SignerWork, TxMetrics } from '../../transactions/index.js';
import { LaneStep } from '../application/lane-step.js';

/** Of the time that a look at everything took, so that these take a hundredth of a core at most. */
const PAUSE_PER_COST = 100;
const LONGEST_PAUSE_MS = 30_000;

/** When: a lane steps when its signer's bell rings, and when polling finds work. Signers of one worker share steps. */
@Injectable()
export class LaneScheduler extends ChainScheduler implements BeforeApplicationShutdown {
  /** By chain and worker. */
  private readonly queues = new Map<string, LaneQueue>();
  /** Queues of which a step is to come. */
  private readonly scheduled = new Set<string>();
  private readonly eventLoop = new EventLoopLoad();
  private readonly pace = new LanePace(() => this.load());
  /** When all work of a chain is to be looked for again; monotonic ms. */
  private readonly lookAgainAt = new Map<ChainId, number>();
  private stopped = false;

  constructor(
    private readonly step: LaneStep,
    private readonly workers: SignerWorkers,
    private readonly repository: ManagedTxRepository,
    private readonly leases: LeaseManager,
    private readonly memory: LaneMemory,
    private readonly router: Router,
    private readonly metrics: TxMetrics,
    private readonly clock: Clock,
    private readonly log: Log,
    config: LockstepConfig,
  ) {
    super({ name: 'find-work', intervalMs: () => config.worker.pollInterval, config, log });
  }

  override onApplicationBootstrap(): void {
    if (!this.role.acts) this.stopped = true;
    super.onApplicationBootstrap();
  }

  override async onModuleDestroy(): Promise<void> {
    this.stopped = true;
    await super.onModuleDestroy();
  }

  /** After every ticker has stopped: the work in flight ends, and only then may another node take over. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.workers.idle();
    await this.leases.releaseAll();
  }

  /** Has the lanes of these signers step soon, as far as they are this node's. */
  wake(signers: readonly SignerId[]): void {
    for (const signer of signers) {
      const worker = this.workers.forChain(signer.chainId).workerOf(signerKey(signer));
      const bell = `${signer.chainId}/${worker}`;
      this.queueOf(bell).ring(signer);
      this.schedule(signer, bell);
    }
  }

  /** The safety net, and all there is when a bell was not heard. */
  protected override async tick(chainId: ChainId): Promise<void> {
    const work = await this.look(chainId);
    this.wake(work.filter((item) => this.needsStep(item)).map(({ signer }) => signer));
  }

  /** Where dead index entries make a look at everything dear, most looks are at the signers in work only. */
  private async look(chainId: ChainId): Promise<SignerWork[]> {
    const startedAt = this.clock.monotonicMs();
    if (startedAt < (this.lookAgainAt.get(chainId) ?? 0)) return this.repository.signersInWork(chainId);
    const pauseSince = (since: number): number =>
      Math.min(PAUSE_PER_COST * (this.clock.monotonicMs() - since), LONGEST_PAUSE_MS);
    try {
      const work = await this.repository.signersWithWork(chainId);
      this.leases.workSeen(
        work.map(({ signer }) => signer),
        [chainId],
      );
      return work;
    } finally {
      this.lookAgainAt.set(chainId, this.clock.monotonicMs() + pauseSince(startedAt));
    }
  }

  /** A signer without pending txs still needs somebody to watch its receipts, and to finish what a failed step left. */
  private needsStep({ signer, hasPending, lease }: SignerWork): boolean {
    const held = this.leases.held(signer);
    if (held !== null) return hasPending || this.memory.owesStep(held);
    if (lease === 'held') this.router.served(signer);
    else this.router.unserved(signer, lease === 'lapsed');
    return lease !== 'held' && this.leases.isOurs(signer);
  }

  private queueOf(bell: string): LaneQueue {
    const known = this.queues.get(bell);
    if (known) return known;
    const queue = new LaneQueue();
    this.queues.set(bell, queue);
    return queue;
  }

  /** @param signer any of the worker's */
  private schedule(signer: SignerId, bell: string): void {
    if (this.stopped || this.scheduled.has(bell)) return;
    this.scheduled.add(bell);
    const now = this.clock.monotonicMs();
    const restMs = Math.max(this.pace.restOf(bell, now), this.queueOf(bell).restMs(now));
    if (restMs === 0) this.run(signer, bell);
    else this.later(restMs, () => this.run(signer, bell));
  }

  /** How busy this process is, between 0 and 1. A seam: a simulated node has no process of its own. */
  protected load(): number {
    return this.eventLoop.current();
  }

  /** A seam: a simulation has its own time. */
  protected later(ms: number, run: () => void): void {
    setTimeout(run, ms).unref();
  }

  private run(signer: SignerId, bell: string): void {
    if (this.stopped) return;
    const workers = this.workers.forChain(signer.chainId);
    const rungAt = this.clock.monotonicMs();
    workers
      .run(signerKey(signer), () => {
        this.metrics.queueLatency((this.clock.monotonicMs() - rungAt) / 1000);
        return this.drain(signer, bell);
      })
      .catch((error: unknown) => {
        this.log.error('lane step failed', { chainId: signer.chainId, error });
      });
    this.metrics.queueDepth(signer.chainId, workers.depth());
  }

  /** One step. Whatever comes of it, those that still wait get theirs. */
  private async drain(signer: SignerId, bell: string): Promise<void> {
    this.scheduled.delete(bell);
    const queue = this.queueOf(bell);
    const share = queue.take(this.clock.monotonicMs());
    try {
      if (share.length > 0) await this.stepWith(signer.chainId, bell, share);
    } catch (error) {
      queue.threw(share, this.clock.monotonicMs());
      throw error;
    } finally {
      if (!queue.isEmpty) this.schedule(signer, bell);
    }
  }

  private async stepWith(chainId: ChainId, bell: string, share: readonly SignerId[]): Promise<void> {
    const failed: SignerId[] = [];
    const more = await this.step.execute(chainId, share, (signer) => failed.push(signer));
    const now = this.clock.monotonicMs();
    this.queueOf(bell).stepped(share, failed, now);
    // Where a full batch waits already there is nothing to gain by waiting for more.
    if (more.length === 0) this.pace.stepped(bell, now);
    this.wake(more);
  }
}
