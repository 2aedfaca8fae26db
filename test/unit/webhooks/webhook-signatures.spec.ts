import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { WebhookSignatures } from '../../../src/modules/webhooks/application/webhook-signatures.js';

const signatures = new WebhookSignatures();
const BODY = '{"type":"tx.confirmed","data":{"note":"größer, 💶"}}';

/** The package checks the time with its own clock, so webhooks are signed now. */
const signed = (secrets: readonly string[], id = 'msg_1', body = BODY) =>
  signatures.headersOf({ id, at: new Date(), body }, secrets);

const accepts = (secret: string, headers: Record<string, string>, body = BODY): unknown =>
  new Webhook(secret).verify(body, headers);

describe('a signed webhook', () => {
  const [old, current, other] = [signatures.newSecret(), signatures.newSecret(), signatures.newSecret()];

  it('is accepted by the package standardwebhooks with its secret, and with no other', () => {
    expect(accepts(current, signed([current]))).toEqual(JSON.parse(BODY));
    expect(() => accepts(other, signed([current]))).toThrow('No matching signature found');
  });

  it('is accepted with each of two secrets while one replaces the other', () => {
    const headers = signed([current, old]);
    expect(headers['webhook-signature'].split(' ')).toHaveLength(2);
    expect(accepts(current, headers)).toEqual(JSON.parse(BODY));
    expect(accepts(old, headers)).toEqual(JSON.parse(BODY));
    expect(() => accepts(other, headers)).toThrow('No matching signature found');
  });

  it('is refused with another body, id or time', () => {
    const headers = signed([current]);
    const later = String(Number(headers['webhook-timestamp']) + 1);
    expect(() => accepts(current, headers, BODY.replace('größer', 'kleiner'))).toThrow('No matching signature found');
    expect(() => accepts(current, { ...headers, 'webhook-id': 'msg_2' })).toThrow('No matching signature found');
    expect(() => accepts(current, { ...headers, 'webhook-timestamp': later })).toThrow('No matching signature found');
  });

  it('has the time in whole seconds, rounded down', () => {
    const at = new Date('2026-01-02T03:04:05.999Z');
    expect(signatures.headersOf({ id: 'msg_1', at, body: '' }, [current])['webhook-timestamp']).toBe('1767323045');
  });

  it('has the signature that the specification gives as an example', () => {
    const webhook = {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      at: new Date(1_614_265_330_000),
      body: '{"test": 2432232314}',
    };
    const { 'webhook-signature': signature } = signatures.headersOf(webhook, [
      'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    ]);
    expect(signature).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('cannot have an id with a dot', () => {
    expect(() => signed([current], 'msg.1')).toThrow('has a dot');
  });
});

describe('a secret', () => {
  it('is new each time, and has 32 random bytes', () => {
    const secrets = Array.from({ length: 100 }, () => signatures.newSecret());
    expect(new Set(secrets).size).toBe(100);
    for (const secret of secrets) {
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    }
  });

  it.each([
    ['has no prefix', Buffer.alloc(32).toString('base64')],
    ['is too short', `whsec_${Buffer.alloc(23).toString('base64')}`],
    ['is too long', `whsec_${Buffer.alloc(65).toString('base64')}`],
  ])('that %s signs nothing, and is not in the error', (_case, secret) => {
    expect(() => signed([secret])).toThrow('a webhook secret is not whsec_ and the Base64 of 24 to 64 bytes');
  });
});
