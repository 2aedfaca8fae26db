import { Database } from './database.js';

/** Name of the data source of {@link ReadDatabase}, for the repositories of entities. */
export const READS = 'reads';
/** Name of the data source of {@link HeartbeatDatabase}. */
export const HEARTBEAT = 'heartbeat';

/** Connections for the API's reads, history and metrics. However slow they are, lanes and leases do not wait for them. */
export class ReadDatabase extends Database {}

/**
 * Connections for what must not wait for anything else: renewal of leases, the node's own heartbeat, readiness. Statements that can
 * wait for a row lock do not belong here.
 */
export class HeartbeatDatabase extends Database {}
