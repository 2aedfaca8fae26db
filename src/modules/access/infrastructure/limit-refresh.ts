import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { AccountLimitsConfig, NodeConfig } from '../../../config/lockstep-config.js';
import { messageOf, Unavailable } from '../../../kernel/errors.js';
import { Database } from '../../../platform/database/database.js';
import { AccountLimits, type OwnLimits } from '../../../platform/limits/account-limits.js';
import { Log } from '../../../platform/logging/log.js';
import type { Ticker } from '../../../platform/scheduling/ticker.js';
import { Tickers } from '../../../platform/scheduling/tickers.js';

/** A change counts at every node after this. */
const POLL_MS = 5_000;
const OWN_LIMITS = {
  name: 'account_limits',
  text: 'SELECT account_id, limits FROM account WHERE limits IS NOT NULL',
};
const NAMES = Object.keys(new AccountLimitsConfig()) as (keyof AccountLimitsConfig)[];

/** Reads the limits that accounts have of their own: before the node serves, and every few seconds. A request costs no statement. */
@Injectable()
export class LimitRefresh implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly ticker: Ticker;

  constructor(
    private readonly database: Database,
    private readonly limits: AccountLimits,
    private readonly role: NodeConfig,
    private readonly log: Log,
    tickers: Tickers,
  ) {
    this.ticker = tickers.create({ name: 'account-limits', intervalMs: POLL_MS, run: () => this.refresh() });
  }

  async onApplicationBootstrap(): Promise<void> {
    if (!this.role.serves) return;
    await this.refresh();
    this.ticker.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.ticker.stop();
  }

  /** While the database is away, which its watch tells, the limits stay as they were read last. */
  private async refresh(): Promise<void> {
    try {
      const { rows } = await this.database.query<{ account_id: string; limits: Record<string, unknown> }>(
        OWN_LIMITS,
        [],
      );
      this.limits.set(new Map(rows.map(({ account_id, limits }) => [account_id, parseOwnLimits(limits)])));
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      this.log.debug('failed to read the limits of accounts', { error: messageOf(error) });
    }
  }
}

/** Null stands for no limit. What is not there is as the config has it, and so is what this version does not know. */
export function parseOwnLimits(stored: Readonly<Record<string, unknown>>): OwnLimits {
  const limits = NAMES.flatMap((name) => {
    const value = stored[name];
    if (value === null) return [[name, Infinity]];
    return typeof value === 'number' && value >= 1 ? [[name, value]] : [];
  });
  return Object.fromEntries(limits) as OwnLimits;
}
