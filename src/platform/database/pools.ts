import { Database } from './database.js';

/** Name of the data source of {@link ReadDatabase}, for the repositories of entities. */
export const READS = 'reads';
/** Name of the data source of {@link HeartbeatDatabase}. */
export const HEARTBEAT = 'heartbeat';

/** Connections for the API's reads, history and metrics. Lanes and leases never wait for them. */
export class ReadDatabase extends Database {}

/**
 * Connections for work that must not wait for other work: lease renewal, the node's heartbeat, readiness. Do not run statements here that
 * can wait for a row lock.
 */
export class HeartbeatDatabase extends Database {}
