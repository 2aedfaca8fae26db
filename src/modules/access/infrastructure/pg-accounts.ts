import { Injectable } from '@nestjs/common';
import { DEFAULT_ACCOUNT } from '../../../kernel/caller.js';
import { Conflict, NotFound } from '../../../kernel/errors.js';
import { Database } from '../../../platform/database/database.js';
import type { Account } from '../domain/account.js';
import { TOLD } from './key.statements.js';

const COLUMNS = 'a.account_id, a.name, a.disabled_at, a.created_at';

const ADD = {
  name: 'account_add',
  text: `INSERT INTO account AS a (account_id, name) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING RETURNING ${COLUMNS}`,
};

const FIND = { name: 'account_find', text: `SELECT ${COLUMNS} FROM account a WHERE a.name = $1` };

const LIST = { name: 'account_list', text: `SELECT ${COLUMNS} FROM account a ORDER BY a.name LIMIT $1` };

const SET_DISABLED = {
  name: 'account_set_disabled',
  text: `
    WITH a AS (
      UPDATE account SET disabled_at = CASE WHEN $2::boolean THEN coalesce(disabled_at, clock_timestamp()) END WHERE name = $1 RETURNING *)
    SELECT ${COLUMNS}, ${TOLD} FROM a`,
};

interface AccountRow {
  readonly account_id: string;
  readonly name: string;
  readonly disabled_at: Date | null;
  readonly created_at: Date;
}

@Injectable()
export class PgAccounts {
  constructor(private readonly database: Database) {}

  /** @throws Conflict `account_exists` */
  async add(id: string, name: string): Promise<Account> {
    const [row] = (await this.database.query<AccountRow>(ADD, [id, name])).rows;
    if (row !== undefined) return toAccount(row);
    throw new Conflict('account_exists', `there is an account ${name}`, 'take another name');
  }

  /** @throws NotFound `account_not_found` */
  async find(name: string): Promise<Account> {
    return known(name, (await this.database.query<AccountRow>(FIND, [name])).rows);
  }

  /** By name. */
  async list(limit: number): Promise<Account[]> {
    return (await this.database.query<AccountRow>(LIST, [limit])).rows.map(toAccount);
  }

  /**
   * Its keys cannot be used within seconds, or can be used again.
   * @throws NotFound `account_not_found`; Conflict `default_account` for that of the operators, which is never disabled
   */
  async setDisabled(name: string, isDisabled: boolean): Promise<Account> {
    if (isDisabled && (await this.find(name)).id === DEFAULT_ACCOUNT)
      throw new Conflict(
        'default_account',
        `${name} is the account of the operators, who could not enable it again`,
        'revoke its keys one by one',
      );
    return known(name, (await this.database.query<AccountRow>(SET_DISABLED, [name, isDisabled])).rows);
  }
}

function known(name: string, [row]: readonly AccountRow[]): Account {
  if (row !== undefined) return toAccount(row);
  throw new NotFound('account_not_found', `no account ${name}`, 'lockstep accounts list shows the accounts');
}

function toAccount(row: AccountRow): Account {
  return { id: row.account_id, name: row.name, disabledAt: row.disabled_at, createdAt: row.created_at };
}
