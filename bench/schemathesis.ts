import { spawn } from 'node:child_process';
import { armAtExit, atExit } from './harness/at-exit.js';
import { startAnvil } from '../test/support/anvil.js';
import { startScratchPostgres } from '../test/support/postgres.js';
import { Service } from '../test/support/service.js';

/** Starts the service on a chain and a database of its own, and runs schemathesis against its document, with a key. @returns its exit code */
export async function runSchemathesis(command: string, args: readonly string[], cwd: string): Promise<number> {
  armAtExit();
  const postgres = await startScratchPostgres();
  const forgetPostgres = atExit(() => postgres.abandon());
  const anvil = await startAnvil({ blockTime: 1 });
  const config = { auth: { mode: 'apiKeys' } };
  const service = await Service.start({ databaseUrl: postgres.url, rpcUrl: anvil.url, config });
  const forget = atExit(() => service.signal('SIGKILL'));
  try {
    const key = await service.firstKey();
    const header = `Authorization: Bearer ${key}`;
    const all = ['run', `${service.url}/docs-json`, '--header', header, ...args];
    return await exitCodeOf(command, all, { cwd, env: { ...process.env, KEY_IN_USE: key } });
  } finally {
    await service.stop();
    forget();
    await anvil.stop();
    await postgres.stop();
    forgetPostgres();
  }
}

function exitCodeOf(
  command: string,
  args: readonly string[],
  where: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...where, stdio: 'inherit' });
    atExit(() => void child.kill('SIGTERM'));
    child.once('error', reject).once('close', (code) => resolve(code ?? 1));
  });
}
