import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Writes a file that only its user can read, whatever was there before.
 * @throws Error `EEXIST` when somebody else made it meanwhile
 */
export function replaceSecret(path: string, text: string): void {
  rmSync(path, { force: true });
  makeSecret(path, text);
}

/** @throws Error `EEXIST` when there is one */
export function makeSecret(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
}
