import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { WebhooksConfig } from '../../../config/index.js';
import { Unavailable } from '../../../kernel/errors.js';

const ALGORITHM = 'aes-256-gcm';
const FORM = /^aes256gcm:([0-9a-f]{16}):([A-Za-z0-9+/]+=*)$/;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** This node cannot decrypt a stored secret. Another node may have its key, and this one when its config is mended: nothing is given up. */
export class SecretUnreadable extends Unavailable {
  constructor(endpointId: string, why: string) {
    super(
      'webhook_secret_unreadable',
      `this node cannot decrypt the secret of webhook endpoint ${endpointId}: ${why}`,
      'add its key to webhooks.encryptionKeys, or rotate the secret with keepOldHours 0',
    );
  }
}

/**
 * Encrypts the secrets of webhooks before they are stored: AES-256-GCM. A stored secret names its key, and is bound to its endpoint: in another
 * row it cannot be decrypted.
 */
@Injectable()
export class WebhookSecrets {
  /** By their ids, which are made of the keys: a wrong key is an unknown one. */
  private readonly keys: ReadonlyMap<string, Buffer>;
  /** With what every secret begins that the first key has encrypted; null without a key. */
  readonly newest: string | null;

  constructor({ encryptionKeys }: WebhooksConfig) {
    this.keys = new Map(encryptionKeys.map((key) => [idOf(key), key]));
    const [first] = this.keys.keys();
    this.newest = first === undefined ? null : `aes256gcm:${first}:`;
  }

  /** @throws Unavailable `webhook_key_missing` */
  encrypted(secret: string, endpointId: string): string {
    const [key] = this.keys.values();
    if (key === undefined || this.newest === null) {
      throw new Unavailable(
        'webhook_key_missing',
        'this node has no key to encrypt the secret of a webhook with',
        'set webhooks.encryptionKeys, or ask another node',
      );
    }
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, key, iv).setAAD(boundTo(endpointId));
    const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    return this.newest + Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64');
  }

  /** @throws SecretUnreadable */
  decrypted(stored: string, endpointId: string): string {
    const [, id, packed] = FORM.exec(stored) ?? [];
    if (id === undefined || packed === undefined) throw new SecretUnreadable(endpointId, 'it is not encrypted');
    const key = this.keys.get(id);
    if (key === undefined) throw new SecretUnreadable(endpointId, `it has no key ${id}`);
    const bytes = Buffer.from(packed, 'base64');
    try {
      const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
        .setAAD(boundTo(endpointId))
        .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      return decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
    } catch {
      throw new SecretUnreadable(endpointId, 'it was changed, or is of another endpoint');
    }
  }
}

function idOf(key: Buffer): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 16);
}

function boundTo(endpointId: string): Buffer {
  return Buffer.from(`webhook_endpoint:${endpointId}`);
}
