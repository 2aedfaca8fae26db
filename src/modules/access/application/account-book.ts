import { Injectable } from '@nestjs/common';
import { Unavailable } from '../../../kernel/errors.js';
import { AccountLimits } from '../../../platform/limits/account-limits.js';
import type { Account } from '../domain/account.js';
import { Accounts } from '../domain/accounts.js';
import { NewestAnswer } from './newest-answer.js';

/** All accounts, in memory: tokens name them, and requests are limited by them. */
@Injectable()
export class AccountBook {
  private readonly byName = new NewestAnswer<ReadonlyMap<string, Account>>();

  constructor(
    private readonly accounts: Accounts,
    private readonly limits: AccountLimits,
  ) {}

  async refresh(): Promise<void> {
    await this.byName.ask(async () => new Map((await this.accounts.all()).map((account) => [account.name, account])));
    const known = [...(this.byName.value?.values() ?? [])];
    this.limits.update(new Map(known.flatMap(({ id, limits }) => (limits === null ? [] : [[id, limits]]))));
  }

  /** @returns null for one that does not exist or is disabled. @throws Unavailable `starting` before the accounts were read */
  idOf(name: string): string | null {
    const { value } = this.byName;
    if (value === null)
      throw new Unavailable('starting', 'this node has not read the accounts yet', 'try again in a moment');
    const account = value.get(name);
    return account?.disabledAt === null ? account.id : null;
  }
}
