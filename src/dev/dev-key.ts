import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { CLI_ENTRY, ROOT } from './paths.js';
import { poll } from './poll.js';
import { replaceSecret } from './write-secret.js';

const run = promisify(execFile);
/** The service hears of it at once, or looks after 5 s. */
const NEWS_TIMEOUT_MS = 10_000;

/** Sees to it that the file has a key that the service takes: the kept one, or a new one of all scopes, as after `npm run reset`. */
export async function keepDevKey(file: string, baseUrl: string, env: Readonly<Record<string, string>>): Promise<void> {
  if (existsSync(file) && (await isTaken(readFileSync(file, 'utf8').trim(), baseUrl))) return;
  const args = [CLI_ENTRY, 'keys', 'create', '--name', 'dev', '--all-scopes'];
  const { stdout } = await run(process.execPath, args, { cwd: ROOT, env: { ...process.env, ...env } });
  replaceSecret(file, stdout);
  await poll(NEWS_TIMEOUT_MS, async () => ((await isTaken(stdout.trim(), baseUrl)) ? true : null));
}

async function isTaken(key: string, baseUrl: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${baseUrl}/api/v1/keys?limit=1`, { headers, signal: AbortSignal.timeout(5_000) });
  await response.body?.cancel();
  return response.ok;
}
