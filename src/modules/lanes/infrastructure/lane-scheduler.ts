import { Injectable } from '@nestjs/common';
import { LockstepConfig } from '../../../config/lockstep-config.js';
import { Clock } from '../../../kernel/clock.js';
import { type ChainId, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { Metrics } from '../../../platform/metrics/metrics.js';
import { Chains, ChainScheduler } from '../../chain/index.js';
import { EventLoopLoad } from '../../../platform/scheduling/event-loop-load.js';
import { Tickers } from '../../../platform/scheduling/tickers.js';
import { LeaseManager, Router, SignerWorkers } from '../../signers/index.js';
import { LanePace, LaneQueue } from './lane-queue.js';
import { LaneMemory, TxQueue } from '../../ledger/index.js';
import { LaneStep } from '../application/lane-step.js';

/** Pause after a search for all work, in multiples of its duration: such searches take at most a hundredth of a core. */
const PAUSE_PER_SEARCH_TIME = 100;
const LONGEST_PAUSE_MS = 30_000;

/** Runs a lane step when the signer's doorbell rings, and when polling finds work. Signers of one worker share steps. */
@Injectable()
export class LaneScheduler extends ChainScheduler {
  /** Queues by chain and worker. */
  private readonly queues = new Map<string, LaneQueue>();
  /** Keys of queues whose next step is scheduled. */
  private readonly scheduled = new Set<string>();
  private readonly eventLoop = new EventLoopLoad();
  private readonly pace = new LanePace(() => this.load());
  /** When to search again for all work of a chain; monotonic milliseconds. */
  private readonly searchAgainAtMs = new Map<ChainId, number>();
  private stopped = false;

  constructor(
    private readonly lanes: LaneStep,
    private readonly chains: Chains,
    private readonly workers: SignerWorkers,
    private readonly queue: TxQueue,
    private readonly leases: LeaseManager,
    private readonly memory: LaneMemory,
    private readonly router: Router,
    private readonly metrics: Metrics,
    private readonly clock: Clock,
    private readonly log: Log,
    config: LockstepConfig,
    tickers: Tickers,
  ) {
    super({ name: 'find-work', intervalMs: () => config.worker.pollInterval, config, tickers });
  }

  override onApplicationBootstrap(): void {
    if (!this.role.acts) this.stopped = true;
    super.onApplicationBootstrap();
  }

  protected override async stop(): Promise<void> {
    this.stopped = true;
    await super.stop();
    await this.workers.idle();
  }

  /** Schedules a step for the lanes of these signers. The step leaves out signers of other nodes. */
  wake(signers: readonly SignerId[]): void {
    for (const signer of signers) {
      const worker = this.workers.forChain(signer.chainId).workerOf(signerKey(signer));
      const bell = `${signer.chainId}/${worker}`;
      this.queueOf(bell).ring(signer);
      this.schedule(signer, bell);
    }
  }

  /** Polls for work, because a doorbell can be lost. */
  protected override async tick(chainId: ChainId): Promise<void> {
    const work = await this.findWork(chainId);
    const waiting = work.filter(({ signer, hasPending, lease }) => {
      // A signer without pending txs still needs an owner, which checks its receipts.
      if (this.leases.held(signer) !== null) return hasPending;
      if (lease === 'held') this.router.served(signer);
      else this.router.unserved(signer, lease === 'lapsed');
      return lease !== 'held' && this.leases.isOurs(signer);
    });
    // With or without work: what a failed step left is finished, and a signer whose chain may be behind our books is compared again.
    const owed = this.leases.heldOn(chainId).filter((lease) => this.memory.needsStep(lease));
    this.wake([...waiting, ...owed].map(({ signer }) => signer));
  }

  /** Dead index entries can make a search for all work expensive. Between two such searches only signers in work are read. */
  private async findWork(chainId: ChainId) {
    const startedAt = this.clock.monotonicMs();
    if (startedAt < (this.searchAgainAtMs.get(chainId) ?? 0)) return this.queue.signersInWork(chainId);
    const pauseSince = (since: number): number =>
      Math.min(PAUSE_PER_SEARCH_TIME * (this.clock.monotonicMs() - since), LONGEST_PAUSE_MS);
    try {
      const work = await this.queue.signersWithWork(chainId);
      this.leases.workSeen(
        work.map(({ signer }) => signer),
        [chainId],
      );
      return work;
    } finally {
      this.searchAgainAtMs.set(chainId, this.clock.monotonicMs() + pauseSince(startedAt));
    }
  }

  private queueOf(bell: string): LaneQueue {
    const known = this.queues.get(bell);
    if (known) return known;
    const queue = new LaneQueue();
    this.queues.set(bell, queue);
    return queue;
  }

  /** @param signer any signer of the worker */
  private schedule(signer: SignerId, bell: string): void {
    if (this.stopped || this.scheduled.has(bell)) return;
    this.scheduled.add(bell);
    const now = this.clock.monotonicMs();
    const restMs = Math.max(this.pace.restOf(bell, now), this.queueOf(bell).restMs(now));
    if (restMs === 0) this.run(signer, bell);
    else this.later(restMs, () => this.run(signer, bell));
  }

  /** How busy this process is, between 0 and 1. Overridden by the simulator, where nodes share a process. */
  protected load(): number {
    return this.eventLoop.current();
  }

  /** Overridden by the simulator, which has its own time. */
  protected later(ms: number, run: () => void): void {
    setTimeout(run, ms).unref();
  }

  private run(signer: SignerId, bell: string): void {
    if (this.stopped) return;
    const workers = this.workers.forChain(signer.chainId);
    const rungAt = this.clock.monotonicMs();
    workers
      .run(signerKey(signer), () => {
        this.metrics.observe('worker_queue_latency_seconds', (this.clock.monotonicMs() - rungAt) / 1000);
        return this.drain(signer, bell);
      })
      .catch((error: unknown) => {
        this.log.error('lane step failed', { chainId: signer.chainId, error });
      });
    this.metrics.set('worker_queue_depth', workers.depth(), { chain: signer.chainId });
  }

  /** Runs one step. Schedules the next one even after a failure, while signers wait. */
  private async drain(signer: SignerId, bell: string): Promise<void> {
    this.scheduled.delete(bell);
    if (this.stopped) return;
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
    const more = await this.lanes.step(this.chains.get(chainId), share, (signer, error) => {
      this.log.error('lane step failed', { signer: signerKey(signer), error });
      failed.push(signer);
    });
    const now = this.clock.monotonicMs();
    this.queueOf(bell).stepped(share, failed, now);
    // When a full batch waits already, do not wait for more work.
    if (more.length === 0) this.pace.stepped(bell, now);
    this.wake(more);
  }
}
