import { Injectable } from '@nestjs/common';
import { AccountLimitsConfig, LimitsConfig } from '../../config/lockstep-config.js';

/** What is not in it is as the config has it; infinite for no limit. */
export type OwnLimits = Partial<AccountLimitsConfig>;

/** What each account may do at all nodes together. */
@Injectable()
export class AccountLimits {
  private own: ReadonlyMap<string, AccountLimitsConfig> = new Map();

  constructor(private readonly config: LimitsConfig) {}

  /** @param own of the accounts that have limits of their own, in place of what was set before */
  set(own: ReadonlyMap<string, OwnLimits>): void {
    this.own = new Map(
      [...own].map(([account, limits]) => [
        account,
        Object.assign(new AccountLimitsConfig(), this.config.account, limits),
      ]),
    );
  }

  of(account: string): AccountLimitsConfig {
    return this.own.get(account) ?? this.config.account;
  }
}
