import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A process that can be told from a later one with the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started and with which command line, as the system tells it. */
  readonly mark: string;
}

/** Null when no such process runs (a zombie does not run). */
export function identify(pid: number): ProcessIdentity | null {
  const mark = process.platform === 'linux' ? linuxMark(pid) : psMark(pid);
  return mark === null ? null : { pid, mark };
}

export function isStillRunning(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.mark === identity.mark;
}

/** From /proc, because slim images have no `ps`. */
function linuxMark(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    // The second field is the program's name in brackets and may hold spaces: count from the last bracket.
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
