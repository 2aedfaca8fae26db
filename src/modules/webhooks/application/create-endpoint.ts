import { Injectable } from '@nestjs/common';
import { IdGenerator } from '../../../kernel/id-generator.js';
import type { EndpointSettings, WebhookEndpoint } from '../domain/webhook-endpoint.js';
import { WebhookEndpoints } from '../domain/webhook-endpoints.js';
import { WebhookSignatures } from './webhook-signatures.js';
import { WebhookTargets } from '../domain/webhook-targets.js';

export interface WithSecret {
  readonly endpoint: WebhookEndpoint;
  /** To be shown now and never again. */
  readonly secret: string;
}

@Injectable()
export class CreateEndpoint {
  constructor(
    private readonly endpoints: WebhookEndpoints,
    private readonly targets: WebhookTargets,
    private readonly signatures: WebhookSignatures,
    private readonly ids: IdGenerator,
  ) {}

  /** @throws InvalidInput `invalid_webhook_url` */
  async execute(settings: EndpointSettings): Promise<WithSecret> {
    const url = this.targets.checkedUrl(settings.url).href;
    const secret = this.signatures.newSecret();
    const endpoint = await this.endpoints.add({ ...settings, url, id: this.ids.next(), secret });
    return { endpoint, secret };
  }
}
