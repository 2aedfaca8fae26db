import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { IdGenerator } from '../../../kernel/id-generator.js';
import { WebhookEndpoints } from '../domain/webhook-endpoints.js';
import { type Answer, WebhookSender } from '../domain/webhook-sender.js';
import { WebhookSignatures } from '../domain/webhook-signatures.js';
import { knownWebhook } from './unknown-webhook.js';

const VERSION = 1;

/** Sends one event of type `webhook.test` now, to a disabled endpoint, too. It is not repeated and leaves no delivery. */
@Injectable()
export class TestEndpoint {
  constructor(
    private readonly endpoints: WebhookEndpoints,
    private readonly sender: WebhookSender,
    private readonly signatures: WebhookSignatures,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  /** @throws NotFound `webhook_not_found` */
  async execute(endpointId: string): Promise<Answer> {
    const { url } = knownWebhook(endpointId, await this.endpoints.find(endpointId));
    const secrets = await this.endpoints.secretsOf(endpointId);
    const at = this.clock.now();
    const id = `test-${this.ids.next()}`;
    const event = { id, type: 'webhook.test', version: VERSION, time: at.toISOString(), data: { webhook: endpointId } };
    const body = JSON.stringify(event);
    return this.sender.send({ url, body, headers: this.signatures.headersOf({ id, at, body }, secrets) });
  }
}
