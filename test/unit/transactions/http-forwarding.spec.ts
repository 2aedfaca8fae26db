import { describe, expect, it } from '@jest/globals';
import { NodeConfig } from '../../../src/config/index.js';
import { HttpForwarding } from '../../../src/modules/transactions/infrastructure/http/http-forwarding.js';

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

  it('is a client’s when it names none', () => {
    expect(forwarding('secret').wasForwarded({ [SIGNATURE]: '' }, BODY)).toBe(false);
  });
});
