import { Injectable } from '@nestjs/common';
import { Unavailable } from '../../../kernel/errors.js';
import { LiveAccounts } from '../domain/live-accounts.js';

/** The accounts that tokens may name, in memory. One that was disabled is forgotten. */
@Injectable()
export class AccountBook {
  private ids: ReadonlyMap<string, string> | null = null;

  constructor(private readonly accounts: LiveAccounts) {}

  /** One at a time, so that no older answer comes last. */
  async refresh(): Promise<void> {
    this.ids = new Map((await this.accounts.all()).map(({ id, name }) => [name, id]));
  }

  /** @returns null for one that does not exist or is disabled. @throws Unavailable `starting` before the accounts were read */
  idOf(name: string): string | null {
    if (this.ids === null)
      throw new Unavailable('starting', 'this node has not read the accounts yet', 'try again in a moment');
    return this.ids.get(name) ?? null;
  }
}
