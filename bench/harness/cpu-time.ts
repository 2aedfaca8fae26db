import { readFileSync } from 'node:fs';

/** Ticks of 10 ms in proc(5); Linux has used 100 a second for user space for decades. */
const MS_PER_TICK = 10;

/** Of a process and all its threads. Milliseconds since it started. */
export function cpuOf(pid: number): number {
  const [user, system] = ticks(pid);
  return (user + system) * MS_PER_TICK;
}

/** Of a process, its children, and those children that ended: all of a PostgreSQL server. Milliseconds. */
export function cpuOfTree(pid: number): number {
  const [user, system, endedUser, endedSystem] = ticks(pid);
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  const living = children.reduce((sum, child) => sum + cpuOfTreeIfAlive(Number(child)), 0);
  return (user + system + endedUser + endedSystem) * MS_PER_TICK + living;
}

/** Bytes of memory in use: now, and at the worst moment since the start. */
export function residentOf(pid: number): { readonly now: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]);
  return { now: kilobytes('VmRSS') * 1024, peak: kilobytes('VmHWM') * 1024 };
}

/** A backend may end between the list and the look; what it used is then in the next look at its parent. */
function cpuOfTreeIfAlive(pid: number): number {
  try {
    return cpuOfTree(pid);
  } catch {
    return 0;
  }
}

/** utime, stime, cutime and cstime of proc(5). */
function ticks(pid: number): [number, number, number, number] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name, in parentheses, may hold anything; utime is the 12th field behind it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return [Number(fields[11]), Number(fields[12]), Number(fields[13]), Number(fields[14])];
}
