import { Injectable } from '@nestjs/common';
import { Log } from '../../../platform/logging/log.js';
import { type StoredSecrets, WebhookEndpoints } from '../domain/webhook-endpoints.js';
import { SecretUnreadable, WebhookSecrets } from './webhook-secrets.js';

/** Encrypts with the first key what an older one has encrypted, so that the older one can be removed. */
@Injectable()
export class EncryptAgain {
  constructor(
    private readonly endpoints: WebhookEndpoints,
    private readonly secrets: WebhookSecrets,
    private readonly log: Log,
  ) {}

  /** @param most endpoints */
  async execute(most: number): Promise<void> {
    const old = await this.endpoints.notEncryptedAs(this.secrets.newest, most);
    const unreadable: string[] = [];
    let encrypted = 0;
    for (const stored of old) {
      const again = this.again(stored);
      if (again === null) unreadable.push(stored.id);
      else if (await this.endpoints.replaceSecrets(stored, again)) encrypted += 1;
    }
    if (encrypted > 0) this.log.info('webhook secrets encrypted again, with the first key', { endpoints: encrypted });
    const [webhook] = unreadable;
    if (webhook === undefined) return;
    this.log.warn('failed to decrypt webhook secrets: deliveries wait', { endpoints: unreadable.length, webhook });
  }

  private again({ id, secrets }: StoredSecrets): readonly string[] | null {
    try {
      return secrets.map((secret) => this.secrets.encrypted(this.secrets.decrypted(secret, id), id));
    } catch (error) {
      if (error instanceof SecretUnreadable) return null;
      throw error;
    }
  }
}
