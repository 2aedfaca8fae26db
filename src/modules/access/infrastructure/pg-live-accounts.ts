import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import { type LiveAccount, LiveAccounts } from '../domain/live-accounts.js';

const LIVE = { name: 'account_live', text: 'SELECT account_id AS id, name FROM account WHERE disabled_at IS NULL' };

@Injectable()
export class PgLiveAccounts extends LiveAccounts {
  constructor(private readonly database: Database) {
    super();
  }

  async all(): Promise<LiveAccount[]> {
    return (await this.database.query<LiveAccount>(LIVE, [])).rows;
  }
}
