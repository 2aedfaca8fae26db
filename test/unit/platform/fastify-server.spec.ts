import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { configFrom } from '../../../src/config/index.js';
import { createFastifyAdapter } from '../../../src/platform/http/fastify-server.js';

/** Milliseconds that a request may wait for a change of its tx, and that common load balancers keep an idle connection. */
const LONGEST_POLL_MS = 60_000;

describe('the HTTP server', () => {
  const { server: config } = configFrom({
    database: { url: 'postgres://nobody@127.0.0.1:1/none' },
    chains: [{ id: 7, rpcUrls: ['http://127.0.0.1:1'] }],
  });
  let adapter: ReturnType<typeof createFastifyAdapter>;

  beforeEach(() => {
    adapter = createFastifyAdapter(config);
  });
  afterEach(() => adapter.close());

  it('keeps a silent connection for longer than the longest poll', () => {
    expect(adapter.getHttpServer().timeout).toBeGreaterThan(LONGEST_POLL_MS);
  });

  it('closes an idle connection later than a load balancer does', () => {
    expect(adapter.getHttpServer().keepAliveTimeout).toBeGreaterThan(LONGEST_POLL_MS);
  });
});
