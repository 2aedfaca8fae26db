import { existsSync } from 'node:fs';
import { isWell } from '../platform/http/probe.js';
import { type DetachedProcess, spawnDetached } from './detached-process.js';
import { LaunchError } from './launch-error.js';
import { ROOT, SERVICE_ENTRY } from './paths.js';
import { poll } from './poll.js';

const READY_TIMEOUT_MS = 120_000;

export async function startService(env: Readonly<Record<string, string>>): Promise<DetachedProcess> {
  if (!existsSync(SERVICE_ENTRY)) throw new LaunchError(`${SERVICE_ENTRY} is missing; run \`npm run build\`.`);
  return spawnDetached({
    command: process.execPath,
    args: ['--enable-source-maps', SERVICE_ENTRY],
    cwd: ROOT,
    env: { ...process.env, ...env },
    output: 'inherit',
  });
}

/** @returns whether the service became ready; its exit code shows why not */
export async function becomesReady(service: DetachedProcess, baseUrl: string): Promise<boolean> {
  const ready = await poll(READY_TIMEOUT_MS, async () => {
    if (service.exitStatus) return false;
    return (await isWell(`${baseUrl}/health/ready`)) ? true : null;
  });
  if (ready === null)
    throw new LaunchError(
      `The service did not become ready within ${String(READY_TIMEOUT_MS / 1000)} s; GET ${baseUrl}/health/ready shows what it waits for.`,
    );
  return ready;
}
