import type { FastifyReply } from 'fastify';

/** A signal that aborts when the client closes the connection before it has the whole answer, or has aborted when that was before. */
export function leaveSignal({ raw }: Pick<FastifyReply, 'raw'>): AbortSignal {
  const left = new AbortController();
  if (raw.destroyed) left.abort();
  raw.once('close', () => {
    if (!raw.writableFinished) left.abort();
  });
  return left.signal;
}
