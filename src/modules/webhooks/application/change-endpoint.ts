import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../kernel/caller.js';
import type { WebhookEndpoint } from '../domain/webhook-endpoint.js';
import { type EndpointChange, WebhookEndpoints } from '../domain/webhook-endpoints.js';
import { WebhookTargets } from '../domain/webhook-targets.js';
import { knownWebhook } from './unknown-webhook.js';

@Injectable()
export class ChangeEndpoint {
  constructor(
    private readonly endpoints: WebhookEndpoints,
    private readonly targets: WebhookTargets,
  ) {}

  /** @throws InvalidInput `invalid_webhook_url`; NotFound `webhook_not_found`; Forbidden `outside_limits` */
  async execute(id: string, change: EndpointChange, caller: Caller): Promise<WebhookEndpoint> {
    const url = change.url === undefined ? {} : { url: this.targets.checkedUrl(change.url).href };
    return knownWebhook(id, await this.endpoints.change(id, { ...change, ...url }, caller));
  }
}
