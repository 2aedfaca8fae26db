import type { Pool } from 'pg';

/** By table: its columns, but for those that are made from others. */
const COLUMNS = `
  SELECT t.tablename AS name, string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) AS columns
    FROM pg_tables t JOIN pg_attribute a ON a.attrelid = ('public.' || t.tablename)::regclass
   WHERE t.schemaname = 'public' AND t.tablename <> 'migrations' AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
   GROUP BY t.tablename ORDER BY t.tablename`;

/** A copy of all rows as of one moment. */
export class Standby {
  private tables: readonly { readonly name: string; readonly columns: string }[] | null = null;

  constructor(private readonly pool: Pool) {}

  async copy(): Promise<void> {
    const tables = this.tables ?? (await this.create());
    this.tables = tables;
    await this.pool.query(
      tables
        .map(
          ({ name, columns }) =>
            `DELETE FROM standby.${name}; INSERT INTO standby.${name} SELECT ${columns} FROM public.${name}`,
        )
        .join(';'),
    );
  }

  /** Its rows take the place of those of now; no trigger is told. */
  async promote(): Promise<void> {
    const rows = (this.tables ?? []).map(
      ({ name, columns }) =>
        `DELETE FROM public.${name}; INSERT INTO public.${name} (${columns}) OVERRIDING SYSTEM VALUE SELECT ${columns} FROM standby.${name}`,
    );
    await this.pool.query(['BEGIN', 'SET LOCAL session_replication_role = replica', ...rows, 'COMMIT'].join(';'));
  }

  private async create(): Promise<{ name: string; columns: string }[]> {
    const { rows } = await this.pool.query<{ name: string; columns: string }>(COLUMNS);
    const tables = rows.map(
      ({ name, columns }) => `CREATE TABLE standby.${name} AS SELECT ${columns} FROM public.${name} WITH NO DATA`,
    );
    await this.pool.query(['DROP SCHEMA IF EXISTS standby CASCADE', 'CREATE SCHEMA standby', ...tables].join(';'));
    return rows;
  }
}
