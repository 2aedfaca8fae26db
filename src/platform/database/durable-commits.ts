/** The part of a `pg` client that this file needs. */
interface Session {
  query(text: string): Promise<unknown>;
}

/**
 * An acknowledged commit must survive a crash of the server. Otherwise the database would not know transactions that were sent, and their
 * payloads would be sent again (docs/invariants.md, I5). A server, database or role may be set to `off`, `local` or `remote_write`; every
 * session raises that to `on`, which also waits for the disk of a synchronous standby. `remote_apply` waits for more and is kept.
 */
const RAISE = `
  SELECT set_config('synchronous_commit', 'on', false)
   WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')`;

/** Run this once on every connection, before any other statement. */
export async function commitDurably(session: Session): Promise<void> {
  await session.query(RAISE);
}

/** For the `extra` of a data source: pg-pool waits for it, and drops the connection when it fails. */
export const DURABLE_POOL = { onConnect: commitDurably };
