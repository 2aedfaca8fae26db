import { Client } from 'pg';

/** As the clocks of the nodes begin. */
export const FIRST_MS = 1_000_000;

/** A sequence is no part of any transaction: whoever asks sees the time of now, in the middle of a transaction, too. */
export const PASS_TIME = `SELECT setval('simulated.time', last_value + $1::bigint) FROM simulated.time`;
export const START_TIME = `SELECT setval('simulated.time', ${FIRST_MS}), setval('simulated.timeline', 1)`;
/** Another server answers from now on. */
export const NEXT_TIMELINE = `SELECT nextval('simulated.timeline')`;

const NOW = `SELECT 'epoch'::timestamptz + last_value * interval '1 ms' FROM simulated.time`;

/** Functions of the same names as those of PostgreSQL, which a session finds first by its search path. */
const CREATE = `
  CREATE SCHEMA IF NOT EXISTS simulated;
  CREATE SEQUENCE IF NOT EXISTS simulated.time;
  CREATE SEQUENCE IF NOT EXISTS simulated.timeline;
  CREATE OR REPLACE FUNCTION simulated.pg_walfile_name(pg_lsn) RETURNS text VOLATILE LANGUAGE sql AS $name$
    SELECT rpad(lpad(to_hex(last_value), 8, '0'), 24, '0') FROM simulated.timeline $name$;
  CREATE OR REPLACE FUNCTION simulated.clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql AS $time$ ${NOW} $time$;
  CREATE OR REPLACE FUNCTION simulated.statement_timestamp() RETURNS timestamptz STABLE LANGUAGE sql AS $time$ ${NOW} $time$;`;

/** Defaults were bound to PostgreSQL's functions when the schema was made. */
const BIND_DEFAULTS = `
  DO $bind$
  DECLARE found record;
  BEGIN
    FOR found IN
      SELECT d.adrelid::regclass AS of, a.attname AS name FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
       WHERE pg_get_expr(d.adbin, d.adrelid) = 'clock_timestamp()'
    LOOP
      EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT simulated.clock_timestamp()', found.of, found.name);
    END LOOP;
    EXECUTE format('ALTER DATABASE %I SET search_path = simulated, pg_catalog, public', current_database());
  END
  $bind$`;

/** Gives a database a clock that stands still unless the simulation moves it, for all sessions that begin from now on. */
export async function installTime(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(CREATE);
    await client.query(BIND_DEFAULTS);
  } finally {
    await client.end();
  }
}
