import { createHmac, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InvariantViolation } from '../../../kernel/errors.js';

const PREFIX = 'whsec_';
/** Standard Webhooks allows 24 to 64 bytes. */
const SECRET_BYTES = 32;

export interface UnsignedWebhook {
  /** The same in each try; it has no dot. */
  readonly id: string;
  /** The time of this try: receivers refuse what is older than some minutes. */
  readonly at: Date;
  /** The bytes that are sent. */
  readonly body: string;
}

export interface SignatureHeaders extends Readonly<Record<string, string>> {
  readonly 'webhook-id': string;
  /** Seconds since 1970. */
  readonly 'webhook-timestamp': string;
  /** `v1,<Base64 of the HMAC-SHA256>`, separated by spaces. */
  readonly 'webhook-signature': string;
}

/** Signatures by which a receiver knows that a webhook is ours: Standard Webhooks 1.0, symmetric. */
@Injectable()
export class WebhookSignatures {
  /** A new secret, `whsec_` and the Base64 of random bytes. To be shown once. */
  newSecret(): string {
    return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
  }

  /** One signature for each secret, so that a receiver which has only one of them can check. */
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
