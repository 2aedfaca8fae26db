import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { NodeConfig } from '../../../src/config/index.js';
import { type Caller, NO_LIMITS } from '../../../src/kernel/caller.js';
import type { DomainError } from '../../../src/kernel/errors.js';
import { HttpForwarding } from '../../../src/modules/requests/infrastructure/http/http-forwarding.js';
import { domainProblem } from '../../../src/platform/http/domain-problem.js';
import { ForwardSignatures } from '../../../src/platform/http/forward-signatures.js';
import { problemJson } from '../../../src/platform/http/problem-details.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const BODY = { requestId: 'invoice-4711' };

/** What node `id` knows, with the secret of the deployment. */
function signaturesOf(id: string): ForwardSignatures {
  return new ForwardSignatures(Object.assign(new NodeConfig(), { forwardSecret: 'secret' }), { id }, new FakeClock());
}

describe('a request that is passed on to the owner', () => {
  let owner: Server;
  let url: string;
  let got: { method: string | undefined; path: string | undefined; headers: IncomingHttpHeaders; text: string };
  let headers: Readonly<Record<string, string>>;
  let log: RecordingLog;
  let answer: () => readonly [number, string];
  beforeEach(async () => {
    [headers, log] = [{ 'content-type': 'application/problem+json' }, new RecordingLog()];
    answer = () => [409, '{"code":"idempotency_conflict"}'];
    owner = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk: Buffer) => (text += chunk.toString()));
      request.on('end', () => {
        got = { method: request.method, path: request.url, headers: request.headers, text };
        const [status, body] = answer();
        response.writeHead(status, headers).end(body);
      });
    });
    await new Promise<void>((resolve) => owner.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(owner.address() as AddressInfo).port}`;
  });
  afterEach(
    () =>
      new Promise((resolve) => {
        owner.close(resolve);
        owner.closeAllConnections();
      }),
  );

  const caller: Caller = { name: 'key:1', account: 'a', scopes: ['tx:write'], only: NO_LIMITS, endsAt: null };
  const forward = () =>
    new HttpForwarding(signaturesOf('node-1'), log).forward(
      { nodeId: 'owner', advertisedUrl: url, expiresInMs: 1 },
      { path: '/api/v1/tx', body: BODY, caller, wasForwarded: false },
    );

  it('is believed there, for it is signed with the secret of the deployment', async () => {
    await forward();
    const { headers, text, ...line } = got;
    expect([line, JSON.parse(text)]).toEqual([{ method: 'POST', path: '/api/v1/tx' }, BODY]);
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'x-lockstep-forwarded-by': 'node-1' });
    expect(signaturesOf('owner').callerOf(headers, '/api/v1/tx')).toEqual(caller);
  });

  it('is answered with the status, the type, the wait and the body of the owner', async () => {
    const body = '{"code":"idempotency_conflict"}';
    headers = { ...headers, 'retry-after': '7' };
    expect(await forward()).toEqual({ status: 409, headers, body });
    headers = {};
    expect(await forward()).toEqual({ status: 409, headers: { 'content-type': 'application/json' }, body });
  });

  it.each([
    ['the secrets differ', 'another', 0],
    ['the clocks differ by more than a minute', 'secret', 60_001],
  ])('is served here, and not refused, when %s', async (_, secret, apartMs) => {
    const clock = new FakeClock();
    clock.advance(apartMs);
    const config = Object.assign(new NodeConfig(), { forwardSecret: secret });
    const theirs = new ForwardSignatures(config, { id: 'owner' }, clock);
    answer = () => {
      const { headers } = got;
      try {
        theirs.callerOf(headers, '/api/v1/tx');
        return [202, '{}'];
      } catch (error) {
        const problem = domainProblem(error as DomainError);
        return [problem.status, problemJson(problem, '/api/v1/tx')];
      }
    };
    expect(await forward()).toBeNull();
    expect(log.lines).toMatchObject([
      { event: 'failed to forward a request: the owner does not take what this node signs' },
    ]);
  });

  it('may be sent again when the owner does not answer', async () => {
    owner.closeAllConnections();
    await new Promise((resolve) => owner.close(resolve));
    await expect(forward()).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'owner_unreachable',
      facts: { ownerNodeId: 'owner' },
    });
  });
});
