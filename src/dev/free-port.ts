import { createServer } from 'node:net';
import { isPortInUse } from './port-in-use.js';

/** A port that nobody listens on right now. */
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

/** The usual port of a thing when it is free, so that tools find it; any other one when not. */
export async function preferPort(usual: number): Promise<number> {
  return (await isPortInUse(usual)) ? freePort() : usual;
}
