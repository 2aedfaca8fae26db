import { Agent, createServer, get } from 'node:http';

/*
 * Everybody who listens to one service, in a process of its own: a receiver of webhooks, readers of streams, and long polls.
 * `/stream?url=` and `/poll?url=` begin one each, `/count` tells what came.
 */

const counts = {
  posts: 0,
  openStreams: 0,
  frames: 0,
  caughtUp: 0,
  polls: 0,
  answered: 0,
  refused: 0,
  /** Refusals by what they were: a status, or the code of an error. */
  why: {} as Record<string, number>,
};
/** Each has a connection of its own. */
const agent = new Agent({ maxSockets: Infinity });

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://here');
  const url = searchParams.get('url') ?? '';
  if (pathname === '/stream') readStream(url, searchParams.get('last') ?? '');
  else if (pathname === '/poll') poll(url);
  if (request.method === 'GET') {
    response.end(JSON.stringify(counts));
    return;
  }
  request.resume().once('end', () => {
    counts.posts += 1;
    response.writeHead(204).end();
  });
});

function refused(what: string, code = 'no code'): void {
  const words = `${what}: ${code}`;
  counts.refused += 1;
  counts.why[words] = (counts.why[words] ?? 0) + 1;
}

/** @param last the request that is the last of what was there before */
function readStream(url: string, last: string): void {
  const opened = get(url, { agent, headers: { accept: 'text/event-stream' } }, (response) => {
    if (response.statusCode !== 200) {
      response.resume();
      refused('stream', String(response.statusCode));
      return;
    }
    counts.openStreams += 1;
    let rest = '';
    response.on('data', (chunk: Buffer) => {
      const text = rest + chunk.toString();
      counts.frames += text.split('\ndata:').length - 1;
      if (last !== '' && text.includes(last)) {
        counts.caughtUp += 1;
        last = '';
      }
      rest = text.slice(text.lastIndexOf('\n') + 1);
    });
    response.once('error', () => undefined).once('close', () => (counts.openStreams -= 1));
  });
  opened.once('error', (error: NodeJS.ErrnoException) => refused('stream', error.code));
}

/** Asks again whenever it is answered. */
function poll(url: string): void {
  counts.polls += 1;
  const asked = get(url, { agent }, (response) => {
    response.resume().once('end', () => {
      counts.polls -= 1;
      counts.answered += 1;
      if (response.statusCode === 200) poll(url);
      else refused('poll', String(response.statusCode));
    });
  });
  asked.once('error', (error: NodeJS.ErrnoException) => {
    counts.polls -= 1;
    refused('poll', error.code);
  });
}

server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address) process.send?.(`http://127.0.0.1:${address.port}`);
});
// Its parent is gone, in whatever way.
process.once('disconnect', () => process.exit());
