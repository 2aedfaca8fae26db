import type { ScratchPostgres } from './postgres.js';

/** Names of the variables by which test files find the server of the run. */
export const SERVER_VARIABLE = 'TEST_POSTGRES_URL';
export const TEMPLATE_VARIABLE = 'TEST_POSTGRES_TEMPLATE';

let kept: ScratchPostgres | null = null;

export function keepServer(server: ScratchPostgres): void {
  kept = server;
}

/** Setup and teardown run in the same process, in modules that are loaded once. */
export function takeServer(): ScratchPostgres | null {
  const server = kept;
  kept = null;
  return server;
}
