import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** The key that encrypts the secrets of webhooks in the database: made at the first start, and readable by its user only. */
export function keptWebhookKey(path: string): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  try {
    writeFileSync(path, randomBytes(32).toString('base64'), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    // Another start made it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return readFileSync(path, 'utf8');
}
