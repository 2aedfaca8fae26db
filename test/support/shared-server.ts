import type { RunningPostgres } from './postgres.js';

/** Names of the variables by which test files find the server of the run. */
export const SERVER_VARIABLE = 'TEST_POSTGRES_URL';
export const TEMPLATE_VARIABLE = 'TEST_POSTGRES_TEMPLATE';

let kept: RunningPostgres | null = null;

export function keepServer(server: RunningPostgres): void {
  kept = server;
}

/** Setup and teardown run in the same process, in modules that are loaded once. */
export function takeServer(): RunningPostgres | null {
  const server = kept;
  kept = null;
  return server;
}
