/**
 * What every INSERT INTO tx_event writes as `xid`, except that of the first event of a tx (docs/decisions/0028-order-of-events.md). Readers order by (xid, seq), and read only what is below the oldest open database
 * transaction. A database transaction gets its own id when it takes its first lock, and may write about a tx after a younger one has: its
 * events would come first. The highest id that is in the log is at least that of each earlier event of the same tx.
 */
export const NEXT_XID = `GREATEST(pg_current_xact_id(), (SELECT l.xid FROM tx_event l ORDER BY l.xid DESC, l.seq DESC LIMIT 1))`;
