import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { SERVER_VARIABLE, TEMPLATE_VARIABLE } from './shared-server.js';

export interface TestDatabase {
  readonly url: string;
  /** Also when connections are open: a test that failed may have left some. */
  drop(): Promise<void>;
}

/** A fresh, migrated database on the server of this run; one for each test file, so that files can run side by side. */
export async function createTestDatabase(): Promise<TestDatabase> {
  return databaseFrom(required(TEMPLATE_VARIABLE));
}

/** The same without a schema, for tests of the migrations themselves. */
export async function createEmptyDatabase(locale = ''): Promise<TestDatabase> {
  return databaseFrom(`template0 ${locale}`);
}

export function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

export async function createDatabase(serverUrl: string, name: string, template = 'template0'): Promise<void> {
  await execute(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${template}`);
}

async function databaseFrom(template: string): Promise<TestDatabase> {
  const server = required(SERVER_VARIABLE);
  const name = `test_${randomBytes(6).toString('hex')}`;
  await createDatabase(server, name, template);
  return {
    url: databaseUrl(server, name),
    drop: () => execute(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

async function execute(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function required(variable: string): string {
  const value = process.env[variable];
  if (value === undefined) throw new Error(`${variable} is not set: run this file in the int or e2e project of Jest`);
  return value;
}
