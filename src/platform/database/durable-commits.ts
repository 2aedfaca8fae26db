/** The part of a `pg` client that is needed here. */
interface Session {
  query(text: string): Promise<unknown>;
}

/**
 * What was answered as committed must outlive a crash of the server. Otherwise transactions are out that the database knows nothing
 * of, and their payloads would be sent again. A server, database or role may say `off`, `local` or `remote_write`; every session
 * raises that to `on`, which also waits for the disk of a synchronous standby. `remote_apply` waits for more, and stays.
 */
const RAISE = `
  SELECT set_config('synchronous_commit', 'on', false)
   WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')`;

/** To be run once on every connection, before anything else is. */
export async function commitDurably(session: Session): Promise<void> {
  await session.query(RAISE);
}

/** For the `extra` of a data source: pg-pool waits for it, and gives up the connection when it fails. */
export const DURABLE_POOL = { onConnect: commitDurably };
