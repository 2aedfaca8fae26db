import { randomInt } from 'node:crypto';
import { isPortInUse } from './port-in-use.js';

/** Below the ports that systems give to connections (32,768 on Linux, 49,152 elsewhere): one of them may take a port before it is used. */
const FIRST = 20_000;
const AFTER_LAST = 32_000;

/** Ports that may not be used yet, so that nobody else gets them. */
const given = new Set<number>();

/** A port that is free now, and that no connection takes. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, AFTER_LAST);
    if (given.has(port)) continue;
    given.add(port);
    if (!(await isPortInUse(port))) return port;
  }
}

/** The usual port if it is free, so that tools find it; otherwise another free port. */
export async function preferPort(usual: number): Promise<number> {
  return (await isPortInUse(usual)) ? freePort() : usual;
}
