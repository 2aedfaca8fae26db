import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { messageOf } from '../../../kernel/errors.js';
import { eventId } from '../../events/index.js';
import type { ClaimedDelivery } from '../domain/delivery.js';
import { type Answer, WebhookSender } from '../domain/webhook-sender.js';
import { SecretUnreadable, WebhookSecrets } from './webhook-secrets.js';
import { WebhookSignatures } from './webhook-signatures.js';

/** Signs one delivery with every secret that is valid now, and posts it. Its id is that of the event: the same in each try and replay. */
@Injectable()
export class PostDelivery {
  constructor(
    private readonly sender: WebhookSender,
    private readonly signatures: WebhookSignatures,
    private readonly secrets: WebhookSecrets,
    private readonly clock: Clock,
  ) {}

  /** Never throws. @returns null when this node cannot decrypt one of the secrets: nothing was sent */
  async execute({ endpointId, position, url, body, secrets: stored }: ClaimedDelivery): Promise<Answer | null> {
    try {
      const secrets = stored.map((secret) => this.secrets.decrypted(secret, endpointId));
      const unsigned = { id: eventId(position), at: this.clock.now(), body };
      return await this.sender.send({ url, body, headers: this.signatures.headersOf(unsigned, secrets) });
    } catch (error) {
      if (error instanceof SecretUnreadable) return null;
      return { status: null, body: '', error: `failed: ${messageOf(error)}`, retryAfterMs: null, durationMs: 0 };
    }
  }
}
