import type { IncomingMessage } from 'node:http';

const MOST_BYTES = 64 * 1024 * 1024;
const LONGEST_MS = 5_000;

/**
 * Reads and discards the rest of a body, up to a limit. A server that answers and closes while the client is still sending resets the
 * connection, and the client never receives the answer.
 */
export async function drainRequest(request: IncomingMessage): Promise<void> {
  if (!request.readableEnded && !request.destroyed) await readToEnd(request);
}

function readToEnd(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    const done = (): void => {
      clearTimeout(timer);
      request.off('data', count).off('end', done).off('close', done).off('error', done);
      resolve();
    };
    const count = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > MOST_BYTES) done();
    };
    const timer = setTimeout(done, LONGEST_MS);
    request.on('data', count).once('end', done).once('close', done).once('error', done);
    request.resume();
  });
}
