import type { OnModuleDestroy } from '@nestjs/common';
import type { NodeConfig } from '../../config/lockstep-config.js';
import type { Log } from '../logging/log.js';

/**
 * Deletes rows that are not needed any more. A subclass has a method with Nest's `@Interval` or `@Cron`, which calls `runOnce`, because Nest starts a
 * run while the last one has not ended, and does not wait for it at shutdown.
 */
export abstract class Housekeeping implements OnModuleDestroy {
  private running: Promise<void> | null = null;
  private stopped = false;

  protected constructor(
    private readonly name: string,
    private readonly role: NodeConfig,
    private readonly log: Log,
  ) {}

  /** Resolves when the run in flight has ended; no further run starts. */
  async onModuleDestroy(): Promise<void> {
    this.stopped = true;
    await this.running;
  }

  /** Does nothing on a node of role `api`, and while a run is in flight. Never throws. */
  protected async runOnce(): Promise<void> {
    if (!this.role.acts || this.stopped || this.running !== null) return;
    this.running = this.runSafely();
    await this.running;
    this.running = null;
  }

  /** @param isStopped whether the process is about to end, and a long run must end, too */
  protected abstract clean(isStopped: () => boolean): Promise<void>;

  private async runSafely(): Promise<void> {
    try {
      await this.clean(() => this.stopped);
    } catch (error) {
      this.log.error('housekeeping failed', { housekeeping: this.name, error });
    }
  }
}
