import { expect } from '@jest/globals';
import { Client } from 'pg';
import type { Service } from './service.js';

/** Looks for secrets in whatever a run has shown: logs, metrics, all rows of all tables, and the answers that it was given. */
export class SecretSearch {
  private readonly secrets = new Map<string, string>();
  private readonly answers: string[] = [];

  /** `name` is what a failure tells, because the secret itself must not be told. */
  keep(name: string, secret: string): string {
    this.secrets.set(`${name} (${this.secrets.size})`, secret);
    return secret;
  }

  answered(answer: unknown): void {
    this.answers.push(JSON.stringify(answer));
  }

  async expectNone(databaseUrl: string, services: readonly Service[]): Promise<void> {
    const metrics = await Promise.all(services.map(async (one) => JSON.stringify((await one.get('/metrics')).body)));
    const logs = services.flatMap(({ log }) => log.join(''));
    const all = [...logs, ...metrics, ...this.answers, ...(await rowsOf(databaseUrl))].join('\n').toLowerCase();
    expect(all.length).toBeGreaterThan(50_000);
    // Of a log, of the metrics, and of a row.
    for (const known of ['"msg":"', '# help ', '(00000000-0000-0000-0000-000000000000,default,'])
      expect(all.includes(known)).toBe(true);
    const shown = [...this.secrets].filter(([, secret]) => formsOf(secret).some((form) => all.includes(form)));
    expect(shown.map(([name]) => name)).toEqual([]);
    expect(this.secrets.size).toBeGreaterThan(5);
  }
}

/** Itself, and as bytes are shown: in hex (bytea) and Base64. */
function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  // The end of Base64 depends on what follows.
  const base64 = bytes.toString('base64').slice(0, -4);
  return [secret, bytes.toString('hex'), base64].map((form) => form.toLowerCase());
}

async function rowsOf(databaseUrl: string): Promise<readonly string[]> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `SELECT format('%I', tablename) AS name FROM pg_tables WHERE schemaname = 'public'`,
    );
    const found: string[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`);
      found.push(...rows.map(({ row }) => row));
    }
    return found;
  } finally {
    await client.end();
  }
}
