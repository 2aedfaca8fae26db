import { execFileSync } from 'node:child_process';
import { arch, cpus, platform, release, totalmem } from 'node:os';
import { ROOT } from '../../src/dev/paths.js';
import { findPostgres } from '../../src/dev/postgres-binaries.js';
import { findAnvil } from '../../src/dev/anvil-binary.js';

/** What the numbers were measured on. */
export interface Machine {
  readonly cores: number;
  readonly cpu: string;
  readonly memoryGiB: number;
  readonly system: string;
  readonly node: string;
  readonly postgres: string;
  readonly anvil: string;
  /** With `+` when the working tree differs from it; null outside a repository. */
  readonly commit: string | null;
}

export async function machine(): Promise<Machine> {
  const processors = cpus();
  return {
    cores: processors.length,
    cpu: processors[0]?.model ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${release()} ${arch()}`,
    node: process.version,
    postgres: (await findPostgres()).version,
    anvil: said(findAnvil(), ['--version'])?.split('\n')[0] ?? 'unknown',
    commit: commit(),
  };
}

function commit(): string | null {
  const hash = said('git', ['rev-parse', '--short=12', 'HEAD']);
  return hash === null ? null : `${hash}${said('git', ['status', '--porcelain']) === '' ? '' : '+'}`;
}

function said(command: string, args: readonly string[]): string | null {
  try {
    return execFileSync(command, args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return null;
  }
}
