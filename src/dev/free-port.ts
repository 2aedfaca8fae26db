import { createServer } from 'node:net';
import { isPortInUse } from './port-in-use.js';

/** A port that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await new Promise<number>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : 0);
    });
  });
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The usual port if it is free, so that tools find it; otherwise another free port. */
export async function preferPort(usual: number): Promise<number> {
  return (await isPortInUse(usual)) ? freePort() : usual;
}
