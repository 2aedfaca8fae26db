import { Injectable } from '@nestjs/common';
import { LockstepConfig } from '../../../config/lockstep-config.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Tickers } from '../../../platform/scheduling/tickers.js';
import { ChainScheduler } from '../../chain/index.js';
import { CloseExpired } from '../application/close-expired.js';
import { ExecuteCommands } from '../application/execute-commands.js';

const CHECK_EVERY_MS = 1_000;

/** Looks once a second for commands to carry out, and for txs in flight that expired. */
@Injectable()
export class CommandScheduler extends ChainScheduler {
  constructor(
    private readonly commands: ExecuteCommands,
    private readonly expired: CloseExpired,
    config: LockstepConfig,
    tickers: Tickers,
  ) {
    super({ name: 'commands', intervalMs: () => CHECK_EVERY_MS, config, tickers });
  }

  /** Carries out what was just stored on this node, without waiting for the next look. */
  wake(chainId: ChainId): void {
    if (this.role.acts) this.kick(chainId);
  }

  protected override async tick(chainId: ChainId): Promise<void> {
    await this.commands.execute(chainId);
    await this.expired.execute(chainId);
  }
}
