/**
 * Single statements, too, are READ COMMITTED: the fence relies on a wait being followed by a fresh look at the row. Plans are cached per
 * connection, and on a fresh database the cheapest one is to read the whole, still empty table; every statement here is written
 * for nested loops over an index, so that is all the planner may choose as long as there is one.
 */
const SETTINGS = {
  default_transaction_isolation: 'read\\ committed',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
};

/** Settings of every session, as the parameter `options` of a connection. */
export const SESSION_OPTIONS = Object.entries(SETTINGS)
  .map(([name, value]) => `-c ${name}=${value}`)
  .join(' ');
