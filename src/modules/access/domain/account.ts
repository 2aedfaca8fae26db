import { NotFound } from '../../../kernel/errors.js';

/** Names of limits; null stands for no limit. What is not in it is as the config has it. */
export type StoredLimits = Readonly<Record<string, number | null>>;

/** Who owns keys, and what is made with them. */
export interface Account {
  readonly id: string;
  /** For people and config; never changes. */
  readonly name: string;
  /** How much it may use at all nodes together; null where the config alone says it. */
  readonly limits: StoredLimits | null;
  /** Its keys cannot be used while it is disabled. */
  readonly disabledAt: Date | null;
  readonly createdAt: Date;
}

export const ACCOUNT_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

export function unknownAccount(name: string): NotFound {
  return new NotFound(
    'account_not_found',
    `no account ${name}`,
    'GET /api/v1/accounts and `lockstep accounts list` show the accounts',
  );
}
