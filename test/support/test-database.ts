import { randomBytes } from 'node:crypto';
import { Client, Pool } from 'pg';
import { SERVER_VARIABLE, TEMPLATE_VARIABLE } from './shared-server.js';

/** Of this process, for as long as it has databases to make: to connect anew for each costs as much as half of one. */
let server: Pool | null = null;

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
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(creation(name, template));
  } finally {
    await client.end();
  }
}

/** The files of the template are copied, which costs half of what it costs to log each page of it. */
const creation = (name: string, template: string): string =>
  `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`;

async function databaseFrom(template: string): Promise<TestDatabase> {
  const serverUrl = required(SERVER_VARIABLE);
  const connections = (server ??= new Pool({ connectionString: serverUrl, allowExitOnIdle: true }));
  const name = `test_${randomBytes(6).toString('hex')}`;
  await connections.query(creation(name, template));
  return {
    url: databaseUrl(serverUrl, name),
    drop: async () => void (await connections.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)),
  };
}

function required(variable: string): string {
  const value = process.env[variable];
  if (value === undefined) throw new Error(`${variable} is not set: run this file in the int or e2e project of Jest`);
  return value;
}
