import { Injectable } from '@nestjs/common';
import { type Actor, AuditLog } from '../../../kernel/audit-log.js';
import { DEFAULT_ACCOUNT } from '../../../kernel/caller.js';
import { Conflict } from '../../../kernel/errors.js';
import { Database } from '../../../platform/database/database.js';
import type { SqlValue, Statement } from '../../../platform/database/pg-tx.js';
import { type Account, type StoredLimits, unknownAccount } from '../domain/account.js';
import { Accounts, type NewAccount } from '../domain/accounts.js';
import { TOLD } from './key.statements.js';

const COLUMNS = 'a.account_id, a.name, a.limits, a.disabled_at, a.created_at';

const ADD = {
  name: 'account_add',
  text: `
    WITH a AS (INSERT INTO account (account_id, name, limits) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING RETURNING *)
    SELECT ${COLUMNS}, ${TOLD} FROM a`,
};

const FIND = { name: 'account_find', text: `SELECT ${COLUMNS} FROM account a WHERE a.name = $1` };

const LIST = {
  name: 'account_list',
  text: `
    SELECT ${COLUMNS} FROM account a WHERE ($1::text IS NULL OR a.name > $1) AND ($3::uuid IS NULL OR a.account_id = $3) ORDER BY a.name LIMIT $2`,
};

const ALL = { name: 'account_all', text: `SELECT ${COLUMNS} FROM account a` };

const SET_DISABLED = {
  name: 'account_set_disabled',
  text: `
    WITH a AS (
      UPDATE account SET disabled_at = CASE WHEN $2::boolean THEN coalesce(disabled_at, clock_timestamp()) END WHERE name = $1 RETURNING *)
    SELECT ${COLUMNS}, ${TOLD} FROM a`,
};

const SET_LIMITS = {
  name: 'account_set_limits',
  text: `
    WITH a AS (UPDATE account SET limits = $2 WHERE name = $1 RETURNING *) SELECT ${COLUMNS}, ${TOLD} FROM a`,
};

interface AccountRow {
  readonly account_id: string;
  readonly name: string;
  readonly limits: StoredLimits | null;
  readonly disabled_at: Date | null;
  readonly created_at: Date;
}

@Injectable()
export class PgAccounts extends Accounts {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditLog,
  ) {
    super();
  }

  async all(): Promise<Account[]> {
    return (await this.database.query<AccountRow>(ALL, [])).rows.map(toAccount);
  }

  async find(name: string): Promise<Account> {
    const [row] = (await this.database.query<AccountRow>(FIND, [name])).rows;
    if (row === undefined) throw unknownAccount(name);
    return toAccount(row);
  }

  async list(afterName: string | null, limit: number, id: string | null): Promise<Account[]> {
    return (await this.database.query<AccountRow>(LIST, [afterName, limit, id])).rows.map(toAccount);
  }

  async add({ id, name, limits }: NewAccount, by: Actor): Promise<Account> {
    const made = await this.change(ADD, [id, name, jsonOf(limits)], 'createAccount', by, name, { limits });
    if (made !== null) return made;
    throw new Conflict('account_exists', `there is an account ${name}`, 'take another name');
  }

  async setDisabled(name: string, isDisabled: boolean, by: Actor): Promise<Account> {
    if (isDisabled && (await this.find(name)).id === DEFAULT_ACCOUNT)
      throw new Conflict(
        'default_account',
        `${name} is the account of the operators, who could not enable it again`,
        'revoke its keys one by one',
      );
    const action = isDisabled ? 'disableAccount' : 'enableAccount';
    return known(name, await this.change(SET_DISABLED, [name, isDisabled], action, by, name));
  }

  async setLimits(name: string, limits: StoredLimits | null, by: Actor): Promise<Account> {
    const values = [name, jsonOf(limits)];
    return known(name, await this.change(SET_LIMITS, values, 'setAccountLimits', by, name, { limits }));
  }

  private change(
    statement: Statement,
    values: readonly SqlValue[],
    action: string,
    by: Actor,
    name: string,
    detail = {},
  ): Promise<Account | null> {
    return this.database.transaction(async (tx) => {
      const [row] = (await tx.query<AccountRow>(statement, values)).rows;
      if (row === undefined) return null;
      await this.audit.record({ by, action, object: `account:${name}`, detail }, tx);
      return toAccount(row);
    });
  }
}

function known(name: string, account: Account | null): Account {
  if (account === null) throw unknownAccount(name);
  return account;
}

function jsonOf(limits: StoredLimits | null): string | null {
  return limits && JSON.stringify(limits);
}

function toAccount(row: AccountRow): Account {
  return {
    id: row.account_id,
    name: row.name,
    limits: row.limits,
    disabledAt: row.disabled_at,
    createdAt: row.created_at,
  };
}
