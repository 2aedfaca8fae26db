import {
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { NodeConfig, WorkerConfig } from '../../../config/lockstep-config.js';
import { Clock } from '../../../kernel/clock.js';
import { type ChainId, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { Ticker } from '../../../platform/scheduling/ticker.js';
import { Chains } from '../../chain/index.js';
import { LeaseManager, Router } from '../../signers/index.js';
import { LaneMemory } from '../application/lane-memory.js';
import { LaneStep } from '../application/lane-step.js';
import { SignerWorkers } from '../application/signer-workers.js';
import { TxMetrics } from '../application/tx-metrics.js';
import { ManagedTxRepository, type SignerWork } from '../domain/managed-tx.repository.js';

/** Signers that share a step share its transactions; more of them in one would make each wait for the others. */
const SIGNERS_PER_STEP = 64;

/** When: a lane steps when its signer's bell rings, and when polling finds work. Signers of one worker share steps. */
@Injectable()
export class LaneScheduler implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  /** Rung signers by chain and worker. */
  private readonly rung = new Map<string, Map<string, SignerId>>();
  private readonly tickers: Ticker[];
  private stopped = false;

  constructor(
    chains: Chains,
    private readonly step: LaneStep,
    private readonly workers: SignerWorkers,
    private readonly repository: ManagedTxRepository,
    private readonly leases: LeaseManager,
    private readonly memory: LaneMemory,
    private readonly router: Router,
    private readonly metrics: TxMetrics,
    private readonly clock: Clock,
    private readonly log: Log,
    private readonly role: NodeConfig,
    config: WorkerConfig,
  ) {
    this.tickers = chains.ids().map(
      (chainId) =>
        new Ticker({
          name: `find-work-${chainId}`,
          intervalMs: config.pollInterval,
          run: () => this.findWork(chainId),
          log,
        }),
    );
  }

  onApplicationBootstrap(): void {
    if (!this.role.acts) this.stopped = true;
    else for (const ticker of this.tickers) ticker.start();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopped = true;
    await Promise.all(this.tickers.map((ticker) => ticker.stop()));
  }

  /** After every ticker has stopped: the work in flight ends, and only then may another node take over. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.workers.idle();
    await this.leases.releaseAll();
  }

  /** Has the lanes of these signers step soon, as far as they are this node's. */
  wake(signers: readonly SignerId[]): void {
    if (this.stopped) return;
    for (const signer of signers) {
      const worker = this.workers.forChain(signer.chainId).workerOf(signerKey(signer));
      const bell = `${signer.chainId}/${worker}`;
      const waiting = this.rung.get(bell);
      if (waiting) {
        waiting.set(signerKey(signer), signer);
      } else {
        this.rung.set(bell, new Map([[signerKey(signer), signer]]));
        this.schedule(signer, bell);
      }
    }
  }

  /** The safety net, and all there is when a bell was not heard. */
  private async findWork(chainId: ChainId): Promise<void> {
    const work = await this.repository.signersWithWork(chainId);
    this.leases.workSeen(work.map(({ signer }) => signer));
    this.wake(work.filter((item) => this.needsStep(item)).map(({ signer }) => signer));
  }

  /** A signer without pending txs still needs somebody to watch its receipts, and to finish what a failed step left. */
  private needsStep({ signer, hasPending, lease }: SignerWork): boolean {
    const held = this.leases.held(signer);
    if (held !== null) return hasPending || this.memory.owesStep(held);
    if (lease === 'held') this.router.served(signer);
    else this.router.unserved(signer, lease === 'lapsed');
    return lease !== 'held' && this.leases.isOurs(signer);
  }

  private schedule(signer: SignerId, bell: string): void {
    const workers = this.workers.forChain(signer.chainId);
    const rungAt = this.clock.monotonicMs();
    workers
      .run(signerKey(signer), () => {
        this.metrics.queueLatency((this.clock.monotonicMs() - rungAt) / 1000);
        return this.drain(signer.chainId, bell);
      })
      .catch((error: unknown) => {
        this.log.error('lane step failed', { chainId: signer.chainId, error });
      });
    this.metrics.queueDepth(signer.chainId, workers.depth());
  }

  private async drain(chainId: ChainId, bell: string): Promise<void> {
    const waiting = [...(this.rung.get(bell)?.values() ?? [])];
    this.rung.delete(bell);
    const more = await this.step.execute(chainId, waiting.slice(0, SIGNERS_PER_STEP));
    this.wake([...more, ...waiting.slice(SIGNERS_PER_STEP)]);
  }
}
