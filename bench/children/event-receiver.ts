import { createServer, get } from 'node:http';

/*
 * Whoever is told of events, in a process of its own: a receiver of webhooks, and a reader of the stream. It counts the events that say that a
 * tx is confirmed. `/count` tells how many came which way, and when the last one did (Unix milliseconds).
 */

/** The first bytes of a body are the same for each type, so they need not be parsed. */
const CONFIRMED = '"type":"tx.confirmed"';

const counts = { webhook: 0, stream: 0, confirmedByWebhook: 0, confirmedByStream: 0, last: 0 };

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    if (request.url?.startsWith('/read?') === true)
      readStream(new URL(request.url, 'http://here').searchParams.get('url') ?? '');
    response.end(JSON.stringify(counts));
    return;
  }
  let body = '';
  request.on('data', (chunk: Buffer) => (body += chunk.toString()));
  request.on('end', () => {
    counts.webhook += 1;
    if (body.includes(CONFIRMED)) confirmed('confirmedByWebhook');
    response.statusCode = 204;
    response.end();
  });
});

function readStream(url: string): void {
  let rest = '';
  get(url, { headers: { accept: 'text/event-stream' } }, (response) => {
    response.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line.startsWith('data:')) received(line);
    });
  });
}

function received(line: string): void {
  counts.stream += 1;
  if (line.includes(CONFIRMED)) confirmed('confirmedByStream');
}

function confirmed(way: 'confirmedByWebhook' | 'confirmedByStream'): void {
  counts[way] += 1;
  counts.last = Date.now();
}

server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address) process.send?.(`http://127.0.0.1:${address.port}`);
});
// Its parent is gone, in whatever way.
process.once('disconnect', () => process.exit());
