import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { LaunchError } from './launch-error.js';
import { toStdout } from './log.js';
import { outsideHome } from './outside-home.js';
import { KEPT, kept } from './paths.js';
import { PidFile } from './pid-file.js';
import { removeCluster } from './postgres-home.js';

/** Runs `npm run reset`: deletes the embedded database and the dev chain, always both. @returns the exit code */
export async function main(): Promise<number> {
  try {
    for (const file of pidFiles()) await new PidFile(file).stopLeftovers(toStdout);
  } catch (error) {
    if (!(error instanceof LaunchError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
  removeCluster(kept.postgres);
  rmSync(outsideHome(), { recursive: true, force: true });
  rmSync(KEPT, { recursive: true, force: true });
  process.stdout.write('The embedded database and the dev chain are deleted; npm start creates new ones.\n');
  return 0;
}

function pidFiles(): string[] {
  if (!existsSync(KEPT)) return [];
  return readdirSync(KEPT)
    .filter((name) => /^pids.*\.json$/.test(name))
    .map((name) => join(KEPT, name));
}
