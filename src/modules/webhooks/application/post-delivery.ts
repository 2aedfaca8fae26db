import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { messageOf } from '../../../kernel/errors.js';
import { eventId } from '../../events/index.js';
import type { ClaimedDelivery } from '../domain/delivery.js';
import { type Answer, WebhookSender } from '../domain/webhook-sender.js';
import { WebhookSignatures } from './webhook-signatures.js';

/** Signs one delivery with every secret that is valid now, and posts it. Its id is that of the event: the same in each try and replay. */
@Injectable()
export class PostDelivery {
  constructor(
    private readonly sender: WebhookSender,
    private readonly signatures: WebhookSignatures,
    private readonly clock: Clock,
  ) {}

  /** Never throws. */
  async execute({ position, url, body, secrets }: ClaimedDelivery): Promise<Answer> {
    try {
      const unsigned = { id: eventId(position), at: this.clock.now(), body };
      return await this.sender.send({ url, body, headers: this.signatures.headersOf(unsigned, secrets) });
    } catch (error) {
      return { status: null, body: '', error: `failed: ${messageOf(error)}`, retryAfterMs: null, durationMs: 0 };
    }
  }
}
