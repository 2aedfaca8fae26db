import type { Log } from './log.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const PARENT_CHECK_MS = 200;

/** Asked to stop before the start was complete: what has been started is to be stopped, and that is all. */
export class StopRequested extends Error {
  override readonly name = 'StopRequested';
}

/**
 * The wish to stop, from Ctrl-C, a signal, a closed terminal, or the death of the npm that started us (which, when
 * killed hard, cannot pass anything on). Later signals only repeat it: the chain must not be cut off in its dump.
 */
export class StopSignal {
  readonly requested: Promise<void>;
  private wanted = false;

  constructor(log: Log) {
    // With the terminal gone a write fails; that must not end us before our children.
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

  /** To be called between two steps of a start. */
  throwIfRequested(): void {
    if (this.wanted) throw new StopRequested('asked to stop');
  }

  /** Like `work`, but does not wait for its end when a stop is asked for. */
  async during<T>(work: Promise<T>): Promise<T> {
    const stopped = this.requested.then(() => {
      throw new StopRequested('asked to stop');
    });
    return Promise.race([work, stopped]);
  }
}

/** Only below npm: a plain `node scripts/start.mjs &` may well outlive its shell. */
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
