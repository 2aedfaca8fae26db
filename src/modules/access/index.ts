export { CreateKey } from './application/create-key.js';
export { keyIdOf, prefixOf, shownOf } from './application/key-text.js';
export { ALL_KEYS, type ApiKey, MAX_NAME_CHARS } from './domain/api-key.js';
export { ACCOUNT_NAME, type StoredLimits } from './domain/account.js';
export { Accounts } from './domain/accounts.js';
export { PgAccounts } from './infrastructure/pg-accounts.js';
export { PgApiKeys } from './infrastructure/pg-api-keys.js';
export { AccessGuard } from './infrastructure/http/access-guard.js';
