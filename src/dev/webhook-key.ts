import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { makeSecret } from './write-secret.js';

/** The key that encrypts the secrets of webhooks in the database: made at the first start, and readable by its user only. */
export function keptWebhookKey(path: string): string {
  try {
    makeSecret(path, randomBytes(32).toString('base64'));
  } catch (error) {
    // Another start made it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return readFileSync(path, 'utf8');
}
