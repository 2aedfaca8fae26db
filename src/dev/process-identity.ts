import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Identifies a process, and distinguishes it from a later process with the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time and command line, as the system reports them. */
  readonly mark: string;
}

/** @returns null when no such process runs (a zombie does not run) */
export function identify(pid: number): ProcessIdentity | null {
  const mark = process.platform === 'linux' ? linuxMark(pid) : psMark(pid);
  return mark === null ? null : { pid, mark };
}

export function isStillRunning(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.mark === identity.mark;
}

/** Reads /proc, because slim images have no `ps`. */
function linuxMark(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    // The second field is the program's name in brackets and may contain spaces: count from the last bracket.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    const command = readFileSync(`/proc/${String(pid)}/cmdline`, 'utf8')
      .replaceAll('\0', ' ')
      .trim();
    return `${fields[19] ?? ''} ${command}`;
  } catch {
    return null;
  }
}

function psMark(pid: number): string | null {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=,args=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    const [state = '', ...rest] = line.split(/\s+/);
    return line === '' || state.startsWith('Z') ? null : rest.join(' ');
  } catch {
    return null;
  }
}
