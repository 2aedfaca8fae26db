import { Injectable } from '@nestjs/common';
import { LockstepConfig } from '../../../config/lockstep-config.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { Tickers } from '../../../platform/scheduling/tickers.js';
import { ChainScheduler } from '../../chain/index.js';
import { CloseExpired } from '../application/close-expired.js';
import { ExecuteCommands } from '../application/execute-commands.js';

const CHECK_EVERY_MS = 1_000;

/** Looks once a second for commands to carry out, and for txs that expired. Neither waits for the other, nor for what began before. */
@Injectable()
export class CommandScheduler extends ChainScheduler {
  private readonly running = new Set<Promise<void>>();

  constructor(
    private readonly commands: ExecuteCommands,
    private readonly expired: CloseExpired,
    private readonly log: Log,
    config: LockstepConfig,
    tickers: Tickers,
  ) {
    super({ name: 'commands', intervalMs: () => CHECK_EVERY_MS, config, tickers });
  }

  /** Carries out what was just stored on this node, without waiting for the next look. */
  wake(chainId: ChainId): void {
    if (this.role.acts) this.kick(chainId);
  }

  protected override async stop(): Promise<void> {
    await super.stop();
    await this.idle();
  }

  protected override async tick(chainId: ChainId): Promise<void> {
    const run = this.commands
      .execute(chainId)
      .catch((error: unknown) => this.log.error('failed to carry out commands', { chainId, error }))
      .finally(() => this.running.delete(run));
    this.running.add(run);
    await this.expired.execute(chainId);
  }

  /** Resolves when no command is being carried out. */
  protected async idle(): Promise<void> {
    await Promise.all(this.running);
  }
}
