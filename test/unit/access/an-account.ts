import type { Account } from '../../../src/modules/access/domain/account.js';

/** Enabled, and without limits of its own. */
export function anAccount(name: string, overrides: Partial<Account> = {}): Account {
  return { id: `id-${name}`, name, limits: null, disabledAt: null, createdAt: new Date(0), ...overrides };
}
