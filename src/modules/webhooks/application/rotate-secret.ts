import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../kernel/caller.js';
import { WebhookEndpoints } from '../domain/webhook-endpoints.js';
import { WebhookSecrets } from './webhook-secrets.js';
import { WebhookSignatures } from './webhook-signatures.js';
import type { WithSecret } from './create-endpoint.js';
import { knownWebhook } from './unknown-webhook.js';

@Injectable()
export class RotateSecret {
  constructor(
    private readonly endpoints: WebhookEndpoints,
    private readonly signatures: WebhookSignatures,
    private readonly secrets: WebhookSecrets,
  ) {}

  /**
   * Until `keepMs` have passed, the secret of now signs, too, and those of earlier rotations until their own ends; with 0 only the new one signs.
   * So a repeated rotation, whose answer was lost, does no harm.
   * @throws NotFound `webhook_not_found`; TooManySecrets; Unavailable `webhook_key_missing`
   */
  async execute(id: string, keepMs: number, caller: Caller): Promise<WithSecret> {
    const secret = this.signatures.newSecret();
    const encrypted = this.secrets.encrypted(secret, id);
    return { endpoint: knownWebhook(id, await this.endpoints.rotateSecret(id, encrypted, keepMs, caller)), secret };
  }
}
