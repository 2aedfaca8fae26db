import type { Log } from './log.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const PARENT_CHECK_MS = 200;

/** A stop was requested before the start was complete: stop the started parts, and report no error. */
export class StopRequested extends Error {
  override readonly name = 'StopRequested';
}

/**
 * A request to stop: by Ctrl-C, a signal, a closed terminal, or the end of the npm that started us (npm cannot forward a SIGKILL). Later
 * signals do nothing more, because the chain must finish its dump.
 */
export class StopSignal {
  readonly requested: Promise<void>;
  private wanted = false;

  constructor(log: Log) {
    // Writes fail after the terminal was closed; that must not end this process before its children.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
    this.requested = new Promise((resolve) => {
      const request = (why: string): void => {
        log(this.wanted ? `${why}: still stopping, a moment please` : `${why}: stopping`);
        this.wanted = true;
        resolve();
      };
      for (const signal of SIGNALS)
        process.on(signal, () => {
          request(signal);
        });
      onParentDeath(() => {
        request('npm has ended');
      });
    });
  }

  get isRequested(): boolean {
    return this.wanted;
  }

  /** Call this between two steps of a start. */
  throwIfRequested(): void {
    if (this.wanted) throw new StopRequested('stop requested');
  }

  /** Awaits `work`, but not its end when a stop is requested. */
  async during<T>(work: Promise<T>): Promise<T> {
    const stopped = this.requested.then(() => {
      throw new StopRequested('stop requested');
    });
    return Promise.race([work, stopped]);
  }
}

/** Only below npm: a plain `node scripts/start.mjs &` may outlive its shell. */
function onParentDeath(act: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    act();
  }, PARENT_CHECK_MS);
  timer.unref();
}
