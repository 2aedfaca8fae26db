import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { LaunchError } from './launch-error.js';
import { stopLeftover } from './leftover.js';
import type { Log } from './log.js';
import { identify, isStillRunning, type ProcessIdentity } from './process-identity.js';

/** In the order in which they are stopped: a part stops before the parts that it uses. */
const STOP_SIGNALS = { service: 'SIGTERM', anvil: 'SIGTERM', postgres: 'SIGINT' } as const satisfies Record<
  string,
  NodeJS.Signals
>;
export type ChildName = keyof typeof STOP_SIGNALS;
const CHILD_NAMES: readonly ChildName[] = ['service', 'anvil', 'postgres'];

interface Recorded {
  readonly launcher: ProcessIdentity;
  readonly children: Partial<Record<ChildName, ProcessIdentity>>;
}

/**
 * Stores which launcher runs, and its children, to refuse a second launcher and to find processes that a kill -9 left running. Stores start
 * time and command line, too, because pids are reused.
 */
export class PidFile {
  private recorded: Recorded | null = null;

  constructor(private readonly path: string) {}

  /** Throws when another launcher runs; otherwise stops processes of earlier launchers and writes the file. */
  async claim(log: Log): Promise<void> {
    await this.stopLeftovers(log);
    const launcher = identify(process.pid);
    if (!launcher) throw new LaunchError('Cannot read the process table (is /proc mounted?).');
    this.write({ launcher, children: {} });
  }

  async stopLeftovers(log: Log): Promise<void> {
    const earlier = this.read();
    if (!earlier) return;
    if (isStillRunning(earlier.launcher)) {
      const pid = String(earlier.launcher.pid);
      throw new LaunchError(
        `Lockstep is already running from this folder (pid ${pid}). Stop it first: Ctrl-C there, or kill ${pid}`,
      );
    }
    for (const name of CHILD_NAMES) {
      const child = earlier.children[name];
      if (!child || !isStillRunning(child)) continue;
      log(`stopping ${name} of an earlier run (pid ${String(child.pid)})`);
      await stopLeftover(child, STOP_SIGNALS[name], 40_000);
    }
  }

  add(name: ChildName, identity: ProcessIdentity): void {
    if (!this.recorded) return;
    this.write({ ...this.recorded, children: { ...this.recorded.children, [name]: identity } });
  }

  release(): void {
    if (this.recorded) rmSync(this.path, { force: true });
    this.recorded = null;
  }

  private read(): Recorded | null {
    try {
      return JSON.parse(readFileSync(this.path, 'utf8')) as Recorded;
    } catch {
      return null;
    }
  }

  private write(recorded: Recorded): void {
    this.recorded = recorded;
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o755 });
    // Rename into place, so that a kill cannot leave half a file.
    writeFileSync(`${this.path}.new`, JSON.stringify(recorded, null, 2));
    renameSync(`${this.path}.new`, this.path);
  }
}
