import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { NodeConfig } from '../../../src/config/index.js';
import { HttpForwarding } from '../../../src/modules/requests/infrastructure/http/http-forwarding.js';

const BODY = { requestId: 'invoice-4711' };
const SIGNATURE = 'x-lockstep-forward-signature';

function forwarding(forwardSecret?: string): HttpForwarding {
  return new HttpForwarding(Object.assign(new NodeConfig(), { forwardSecret }), { id: 'node-1' });
}

function wasForwarded(headers: Readonly<Record<string, unknown>>, secret?: string): boolean {
  return forwarding(secret).wasForwarded({ 'x-lockstep-forwarded-by': 'node-2', ...headers }, BODY);
}

describe('a request that names a node as its sender', () => {
  it('is believed by nobody without a secret, not even with an empty signature', () => {
    for (const headers of [{}, { [SIGNATURE]: '' }, { [SIGNATURE]: 'x' }])
      expect(() => wasForwarded(headers)).toThrow(expect.objectContaining({ code: 'bad_forward_signature' }));
  });

  it('is not believed without the signature of that node', () => {
    for (const headers of [{}, { [SIGNATURE]: '' }, { [SIGNATURE]: 'ab'.repeat(32) }])
      expect(() => wasForwarded(headers, 'secret')).toThrow(expect.objectContaining({ code: 'bad_forward_signature' }));
  });

  it('is not believed when its headers are no texts', () => {
    for (const headers of [{ 'x-lockstep-forwarded-by': ['node-2'] }, { [SIGNATURE]: ['x'] }])
      expect(() => wasForwarded(headers, 'secret')).toThrow(expect.objectContaining({ code: 'bad_forward_signature' }));
  });

  it('is a client’s when it names none', () => {
    expect(forwarding('secret').wasForwarded({ [SIGNATURE]: '' }, BODY)).toBe(false);
  });
});

describe('a request that is passed on to the owner', () => {
  let owner: Server;
  let url: string;
  let got: { method: string | undefined; path: string | undefined; headers: IncomingHttpHeaders; text: string };
  let contentType: string | undefined;
  beforeEach(async () => {
    contentType = 'application/problem+json';
    owner = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk: Buffer) => (text += chunk.toString()));
      request.on('end', () => {
        got = { method: request.method, path: request.url, headers: request.headers, text };
        if (contentType !== undefined) response.setHeader('content-type', contentType);
        response.writeHead(409).end('{"code":"idempotency_conflict"}');
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

  const forward = (secret?: string, advertisedUrl = url) =>
    forwarding(secret).forward({ nodeId: 'owner', advertisedUrl, expiresInMs: 1 }, '/api/v1/tx', BODY);

  it('is believed there, for it is signed with the secret of the deployment', async () => {
    await forward('secret');
    const { headers, text, ...line } = got;
    expect([line, JSON.parse(text)]).toEqual([{ method: 'POST', path: '/api/v1/tx' }, BODY]);
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'x-lockstep-forwarded-by': 'node-1' });
    const at = (secret: string, body: unknown) => () => forwarding(secret).wasForwarded(headers, body);
    expect(at('secret', BODY)()).toBe(true);
    expect(at('another', BODY)).toThrow(expect.objectContaining({ code: 'bad_forward_signature' }));
    expect(at('secret', { requestId: 'x' })).toThrow(expect.objectContaining({ code: 'bad_forward_signature' }));
    headers['x-lockstep-forwarded-by'] = 'node-2';
    expect(at('secret', BODY)).toThrow(expect.objectContaining({ code: 'bad_forward_signature' }));
  });

  it('is answered with the status, the type and the body of the owner', async () => {
    const body = '{"code":"idempotency_conflict"}';
    expect(await forward('secret')).toEqual({ status: 409, contentType, body });
    contentType = undefined;
    expect(await forward('secret')).toEqual({ status: 409, contentType: 'application/json', body });
  });

  it('may be sent again when the owner does not answer', async () => {
    owner.closeAllConnections();
    await new Promise((resolve) => owner.close(resolve));
    await expect(forward('secret')).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'owner_unreachable',
      facts: { ownerNodeId: 'owner' },
    });
  });
});
