import { Injectable } from '@nestjs/common';
import { AccountLimitsConfig, LimitsConfig } from '../../config/lockstep-config.js';
import { Metrics } from '../metrics/metrics.js';
import { type LimitName, type Quota, RateLimited } from './rate-limited.js';

/** As stored, by the names of the config: null for no limit. What is not there is as the config has it. */
export type OwnLimits = Readonly<Record<string, unknown>>;

export const LIMIT_NAMES = Object.keys(new AccountLimitsConfig()) as (keyof AccountLimitsConfig)[];

interface Kept {
  /** As JSON. */
  readonly stored: string;
  readonly limits: AccountLimitsConfig;
}

/** What each account may do at all nodes together. */
@Injectable()
export class AccountLimits {
  private own: ReadonlyMap<string, Kept> = new Map();

  constructor(
    private readonly config: LimitsConfig,
    private readonly metrics: Metrics,
  ) {}

  /** @param own of the accounts that have limits of their own, in place of what was set before. They are read every few seconds, and seldom change */
  update(own: ReadonlyMap<string, OwnLimits>): void {
    this.own = new Map(
      [...own].map(([account, limits]) => [account, this.kept(account, JSON.stringify(limits), limits)]),
    );
  }

  private kept(account: string, stored: string, limits: OwnLimits): Kept {
    const known = this.own.get(account);
    if (known?.stored === stored) return known;
    return { stored, limits: Object.assign(new AccountLimitsConfig(), this.config.account, parseOwnLimits(limits)) };
  }

  of(account: string): AccountLimitsConfig {
    return this.own.get(account)?.limits ?? this.config.account;
  }

  /** @returns a refusal that is counted, also for the limits of signers */
  refusal(limit: LimitName, afterSeconds: number, quota: Quota | null = null): RateLimited {
    this.metrics.count('limited_total', 1, { limit });
    return new RateLimited(limit, afterSeconds, quota);
  }
}

/** What this version does not know, or cannot be, is as the config has it. */
function parseOwnLimits(stored: OwnLimits): Partial<AccountLimitsConfig> {
  const limits = LIMIT_NAMES.flatMap((name) => {
    const value = stored[name];
    if (value === null) return [[name, Infinity]];
    return typeof value === 'number' && value >= 1 ? [[name, value]] : [];
  });
  return Object.fromEntries(limits) as Partial<AccountLimitsConfig>;
}
