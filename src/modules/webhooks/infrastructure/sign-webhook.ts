import { createHmac, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InvariantViolation } from '../../../kernel/errors.js';
import { type SignatureHeaders, type UnsignedWebhook, WebhookSignatures } from '../domain/webhook-signatures.js';

const PREFIX = 'whsec_';
/** Standard Webhooks allows 24 to 64 bytes. */
const SECRET_BYTES = 32;

@Injectable()
export class StandardWebhookSignatures extends WebhookSignatures {
  newSecret(): string {
    return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
  }

  headersOf({ id, at, body }: UnsignedWebhook, secrets: readonly string[]): SignatureHeaders {
    // With a dot in the id, the same signature would hold for another id, time and body.
    if (id.includes('.')) throw new InvariantViolation('the id of a webhook has a dot', { id });
    const timestamp = String(Math.floor(at.getTime() / 1000));
    const signed = `${id}.${timestamp}.${body}`;
    const signatures = secrets.map((secret) => `v1,${hmac(keyOf(secret), signed)}`);
    return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
  }
}

function hmac(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64');
}

/** Never says the secret in an error. */
function keyOf(secret: string): Buffer {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  if (!secret.startsWith(PREFIX) || key.length < 24 || key.length > 64) {
    throw new InvariantViolation('a webhook secret is not whsec_ and the Base64 of 24 to 64 bytes');
  }
  return key;
}
