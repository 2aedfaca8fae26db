import type { FastifyReply } from 'fastify';

/** A signal that aborts when the client closes the connection before it has the whole answer. */
export function leaveSignal({ raw }: Pick<FastifyReply, 'raw'>): AbortSignal {
  const left = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) left.abort();
  });
  return left.signal;
}
