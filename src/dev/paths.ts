import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Root of the clone: two levels up from src/dev as from dist/dev. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');

/** All data that `npm start` keeps between runs; `npm run reset` deletes it. */
export const KEPT = join(ROOT, '.lockstep');

export const kept = {
  pids: join(KEPT, 'pids.json'),
  config: join(KEPT, 'lockstep.yaml'),
  webhookKey: join(KEPT, 'webhook.key'),
  devKey: join(KEPT, 'dev-key'),
  postgres: join(KEPT, 'postgres'),
  chainState: join(KEPT, 'chain', 'state.json'),
} as const;

export const SERVICE_ENTRY = join(ROOT, 'dist', 'main.js');
export const CLI_ENTRY = join(ROOT, 'dist', 'cli.js');
