import type { Writable } from 'node:stream';

/** A client that does not take what was sent. */
export class SlowClient extends Error {
  constructor() {
    super('the client does not take what was sent');
    this.name = 'SlowClient';
  }
}

/**
 * Writes, and resolves when the client has taken enough for more, or when `signal` is aborted. So no more than one text is in memory for a
 * client.
 * @throws SlowClient after `timeoutMs`
 */
export async function writeTo(stream: Writable, text: string, timeoutMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted || stream.write(text)) return;
  await new Promise<void>((resolve, reject) => {
    const end = (settle: () => void) => (): void => {
      clearTimeout(timer);
      stream.off('drain', done);
      signal.removeEventListener('abort', done);
      settle();
    };
    const done = end(resolve);
    const timer = setTimeout(
      end(() => reject(new SlowClient())),
      timeoutMs,
    );
    stream.once('drain', done);
    signal.addEventListener('abort', done);
  });
}
