import { WebhooksConfig } from '../../src/config/index.js';
import { WebhookSecrets } from '../../src/modules/webhooks/application/webhook-secrets.js';

/** What the config of the tests has as `webhooks.encryptionKeys`. */
export const WEBHOOK_KEY = Buffer.alloc(32, 1);

export function webhookSecrets(...encryptionKeys: readonly Buffer[]): WebhookSecrets {
  return new WebhookSecrets(Object.assign(new WebhooksConfig(), { encryptionKeys }));
}

/** For rows that a test has put in with plain secrets: encrypts nothing. */
export class PlainSecrets extends WebhookSecrets {
  constructor() {
    super(new WebhooksConfig());
  }
  override encrypted(secret: string): string {
    return secret;
  }
  override decrypted(stored: string): string {
    return stored;
  }
}
