/** Receives one line of progress. */
export type Log = (line: string) => void;

export const silent: Log = () => undefined;

/** Prefixes every line with the seconds since its creation, so that slow steps show. */
export function timedLog(write: Log = toStdout, now: () => number = () => performance.now()): Log {
  const start = now();
  return (line) => {
    write(`[${((now() - start) / 1000).toFixed(1).padStart(5)} s] ${line}`);
  };
}

export function toStdout(line: string): void {
  process.stdout.write(`${line}\n`);
}
