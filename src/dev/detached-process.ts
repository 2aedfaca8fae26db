import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { identify, type ProcessIdentity } from './process-identity.js';

export interface ExitStatus {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface DetachedProcess {
  readonly identity: ProcessIdentity;
  readonly exited: Promise<ExitStatus>;
  /** Undefined while it runs. */
  readonly exitStatus: ExitStatus | undefined;
  /** Sends `signal` and waits for the end; sends SIGKILL after `graceMs`. */
  stop(signal: NodeJS.Signals, graceMs: number): Promise<ExitStatus>;
}

export interface DetachedCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly uid?: number;
  readonly gid?: number;
  /** The target of its output: a file, which is truncated, or the output of this process. */
  readonly output: { readonly file: string } | 'inherit' | 'ignore';
}

/**
 * A child in its own process group: the terminal's Ctrl-C must reach only the launcher, which then ends its children in the right order. If
 * the node ended first, the service would report errors.
 */
export async function spawnDetached(options: DetachedCommand): Promise<DetachedProcess> {
  const fd = typeof options.output === 'object' ? openSync(options.output.file, 'w', 0o644) : undefined;
  const stdio = fd ?? (options.output === 'inherit' ? 'inherit' : 'ignore');
  const child = spawn(options.command, options.args, {
    detached: true,
    stdio: ['ignore', stdio, stdio],
    ...(options.env && { env: options.env }),
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    ...(options.uid !== undefined && { uid: options.uid }),
    ...(options.gid !== undefined && { gid: options.gid }),
  });
  if (fd !== undefined) closeSync(fd);

  let exitStatus: ExitStatus | undefined;
  const exited = new Promise<ExitStatus>((resolve) => {
    child.once('exit', (code, signal) => {
      exitStatus = { code, signal };
      resolve(exitStatus);
    });
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  const pid = child.pid ?? 0;
  return {
    // A child that has already ended gets a mark that no process has.
    identity: identify(pid) ?? { pid, mark: 'ended' },
    exited,
    get exitStatus() {
      return exitStatus;
    },
    async stop(signal, graceMs) {
      if (exitStatus) return exitStatus;
      child.kill(signal);
      const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
      try {
        return await exited;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
