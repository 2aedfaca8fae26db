import type { Actor } from '../../../kernel/audit-log.js';
import type { Account, StoredLimits } from './account.js';

export interface NewAccount {
  readonly id: string;
  readonly name: string;
  readonly limits: StoredLimits | null;
}

/** What changes one is recorded in the audit log. */
export abstract class Accounts {
  abstract all(): Promise<Account[]>;
  /** @throws NotFound `account_not_found` */
  abstract find(name: string): Promise<Account>;
  /** By name, behind `afterName`. @param id of the only one that the list may have; null for all */
  abstract list(afterName: string | null, limit: number, id: string | null): Promise<Account[]>;
  /** @throws Conflict `account_exists` */
  abstract add(account: NewAccount, by: Actor): Promise<Account>;
  /**
   * Its keys cannot be used within seconds, or can be used again.
   * @throws NotFound `account_not_found`; Conflict `default_account` for that of the operators, which is never disabled
   */
  abstract setDisabled(name: string, isDisabled: boolean, by: Actor): Promise<Account>;
  /** In place of all that it has had. @throws NotFound `account_not_found` */
  abstract setLimits(name: string, limits: StoredLimits | null, by: Actor): Promise<Account>;
}
