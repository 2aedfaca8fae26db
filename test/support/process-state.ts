import { readFileSync } from 'node:fs';

/** The letter of proc(5): R and S while it lives, T when it is stopped, Z when it is dead and nobody has looked. */
export function processState(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name, in parentheses, may hold anything.
  return stat.slice(stat.lastIndexOf(')') + 2).charAt(0);
}
