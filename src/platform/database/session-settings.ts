/**
 * Single statements are READ COMMITTED, too: the fence needs PostgreSQL to read a row again after it waited for its lock. Plans are cached
 * per connection, and on a new database the cheapest plan reads the whole, still empty table. All our statements are written for nested
 * loops over an index, so the planner may choose nothing else where an index exists.
 */
const SETTINGS = {
  default_transaction_isolation: 'read\\ committed',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
};

/** Settings of every session, as the connection parameter `options`. */
export const SESSION_OPTIONS = Object.entries(SETTINGS)
  .map(([name, value]) => `-c ${name}=${value}`)
  .join(' ');
