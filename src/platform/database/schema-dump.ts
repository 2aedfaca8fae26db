import { readFileSync, writeFileSync } from 'node:fs';
import { DataSource } from 'typeorm';
import { SCHEMA_FILE } from './migrations.js';

/** One row per fact about the schema, in a fixed order, so that a change of the schema is a readable diff. */
const FACTS = `
  SELECT format('domain %s %s%s %s', t.typname, format_type(t.typbasetype, t.typtypmod),
                CASE WHEN t.typcollation NOT IN (0, 'pg_catalog.default'::regcollation) THEN ' collate ' || t.typcollation::regcollation::text ELSE '' END,
                (SELECT string_agg(pg_get_constraintdef(c.oid), ' ' ORDER BY c.conname) FROM pg_constraint c WHERE c.contypid = t.oid)) AS fact
    FROM pg_type t WHERE t.typtype = 'd' AND t.typnamespace = 'public'::regnamespace
  UNION ALL
  SELECT format('table %s column %s %s%s%s%s%s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
                CASE WHEN a.attcollation <> t.typcollation THEN ' collate ' || a.attcollation::regcollation::text ELSE '' END,
                CASE WHEN a.attnotnull THEN ' not null' ELSE '' END,
                CASE WHEN a.attidentity <> '' THEN ' identity ' || a.attidentity::text ELSE '' END,
                coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), ''))
    FROM pg_attribute a
    JOIN pg_type t ON t.oid = a.atttypid
    JOIN pg_class c ON c.oid = a.attrelid AND c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
   WHERE a.attnum > 0 AND NOT a.attisdropped
  UNION ALL
  SELECT format('table %s constraint %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND conrelid <> 0 AND contype <> 'n'
  UNION ALL
  SELECT format('table %s index %s', tablename, indexdef) FROM pg_indexes WHERE schemaname = 'public'`;

/** Text of the schema of a database, without TypeORM's own table. */
export async function describeSchema(url: string): Promise<string> {
  const dataSource = new DataSource({ type: 'postgres', url });
  await dataSource.initialize();
  try {
    const rows: { fact: string }[] = await dataSource.query(FACTS);
    const facts = rows.map((row) => row.fact).filter((fact) => !fact.startsWith('table migrations '));
    return `${facts.sort().join('\n')}\n`;
  } finally {
    await dataSource.destroy();
  }
}

export function recordedSchema(): string {
  return readFileSync(SCHEMA_FILE, 'utf8');
}

export function recordSchema(text: string): void {
  writeFileSync(SCHEMA_FILE, text);
}
