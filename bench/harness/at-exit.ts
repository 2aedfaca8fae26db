import { existsSync, readFileSync } from 'node:fs';

const undoings = new Set<() => void>();

/**
 * Run when this process ends, whatever ends it; the last one first. Synchronous, because an `exit` handler can wait for
 * nothing. @returns forgets it again, for what was ended in the normal way
 */
export function atExit(undo: () => void): () => void {
  undoings.add(undo);
  return () => void undoings.delete(undo);
}

export function armAtExit(): void {
  process.once('exit', () => {
    for (const undo of [...undoings].reverse()) undo();
    // What was just being started, and nobody knows of yet.
    for (const pid of children()) killIfAlive(pid, 'SIGTERM');
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));
}

export function killIfAlive(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone already, which is what was wanted.
  }
}

function children(): number[] {
  const list = `/proc/${process.pid}/task/${process.pid}/children`;
  return existsSync(list) ? readFileSync(list, 'utf8').split(' ').filter(Boolean).map(Number) : [];
}
