import type { ClusterDatabase } from './cluster-database.js';

/** How often each write is refused before it succeeds. */
const REFUSALS = 3;
/** Everything that the service writes on the way of a transaction. */
const WRITES = {
  intake: 'BEFORE INSERT ON managed_tx',
  progress: 'BEFORE UPDATE ON managed_tx',
  slot: 'BEFORE INSERT ON signer_nonce_allocation',
  consumed: 'BEFORE UPDATE ON signer_nonce_allocation',
  cursor: 'BEFORE UPDATE ON signer_nonce_cursor',
  attempt: 'BEFORE INSERT ON tx_attempt',
  outcome: 'BEFORE UPDATE ON tx_attempt',
  event: 'BEFORE INSERT ON tx_event',
  block: 'BEFORE INSERT ON chain_block',
  lease: 'BEFORE INSERT OR UPDATE ON signer_lease',
} as const;
const COUNTED = [...Object.keys(WRITES), 'commit'];

/**
 * Makes triggers that refuse nothing until told to. To be run before the service starts: DDL on several tables would deadlock
 * with it. A sequence counts, because nextval is not taken back with the statement that is refused.
 */
export function installRefusals(): string {
  const triggers = Object.entries(WRITES).map(
    ([name, moment]) =>
      `CREATE TRIGGER fault_${name} ${moment} FOR EACH STATEMENT EXECUTE FUNCTION fault.refuse('fault.${name}');`,
  );
  return `
    CREATE SCHEMA fault;
    CREATE TABLE fault.answer AS SELECT '' AS sql_state;
    ${COUNTED.map((name) => `CREATE SEQUENCE fault.${name} START WITH ${REFUSALS + 1};`).join(' ')}
    CREATE FUNCTION fault.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF nextval(TG_ARGV[0]) <= ${REFUSALS} THEN
        RAISE EXCEPTION 'refused by the test' USING ERRCODE = (SELECT sql_state FROM fault.answer);
      END IF;
      RETURN NULL;
    END $$;
    ${triggers.join(' ')}
    CREATE CONSTRAINT TRIGGER fault_commit AFTER UPDATE ON managed_tx DEFERRABLE INITIALLY DEFERRED
       FOR EACH ROW EXECUTE FUNCTION fault.refuse('fault.commit');`;
}

/** From now on the server refuses the next few of each of {@link WRITES}, and of the commits of progress. */
export async function refuseNext(database: ClusterDatabase, sqlState: string): Promise<void> {
  await database.query('UPDATE fault.answer SET sql_state = $1', [sqlState]);
  for (const name of COUNTED) await database.query(`SELECT setval('fault.${name}', 1, false)`);
}

/** The writes of which the server has not refused all that it was to. */
export async function unrefused(database: ClusterDatabase): Promise<string[]> {
  const rows = await database.query<{ name: string }>(
    `SELECT sequencename AS name FROM pg_sequences WHERE schemaname = 'fault' AND last_value >= ${REFUSALS}`,
  );
  const refused = new Set(rows.map(({ name }) => name));
  return COUNTED.filter((name) => !refused.has(name));
}
