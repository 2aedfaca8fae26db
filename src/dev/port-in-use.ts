import { createServer } from 'node:net';
import { LaunchError } from './launch-error.js';
import { poll } from './poll.js';

/** Check the loopback and all interfaces: on some systems different programs can use the two. */
const HOSTS = ['127.0.0.1', undefined];

export async function isPortInUse(port: number): Promise<boolean> {
  for (const host of HOSTS) if (!(await canListen(port, host))) return true;
  return false;
}

/** Threads of a process that has just ended may hold its port for a moment. */
const LAST_MOMENTS_MS = 1_000;

export async function assertPortFree(port: number): Promise<void> {
  const isFree = await poll(LAST_MOMENTS_MS, async () => ((await isPortInUse(port)) ? null : true));
  if (isFree) return;
  throw new LaunchError(
    `Port ${String(port)} is in use by another program (or may not be used). ` +
      `Stop that program, or choose another port: PORT=${String(port === 3000 ? 3001 : 3000)} npm start`,
  );
}

function canListen(port: number, host: string | undefined): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => {
      resolve(false);
    });
    server.listen({ port, host, exclusive: true }, () => {
      server.close(() => {
        resolve(true);
      });
    });
  });
}
