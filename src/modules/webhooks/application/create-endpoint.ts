import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../kernel/caller.js';
import { IdGenerator } from '../../../kernel/id-generator.js';
import { AccountLimits } from '../../../platform/limits/account-limits.js';
import { UNKNOWN_END_SECONDS } from '../../../platform/limits/rate-limited.js';
import { assertWithin, type EndpointSettings, type WebhookEndpoint } from '../domain/webhook-endpoint.js';
import { WebhookEndpoints } from '../domain/webhook-endpoints.js';
import { WebhookSecrets } from './webhook-secrets.js';
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
    private readonly secrets: WebhookSecrets,
    private readonly ids: IdGenerator,
    private readonly limits: AccountLimits,
  ) {}

  /** @throws InvalidInput `invalid_webhook_url`; Forbidden `outside_limits`; Unavailable `webhook_key_missing`; RateLimited */
  async execute(settings: EndpointSettings, caller: Caller): Promise<WithSecret> {
    assertWithin(caller, settings);
    const url = this.targets.checkedUrl(settings.url).href;
    const [id, secret] = [this.ids.next(), this.signatures.newSecret()];
    const encrypted = this.secrets.encrypted(secret, id);
    const { account } = caller;
    const { webhookEndpoints: most } = this.limits.of(account);
    const endpoint = await this.endpoints.add({ ...settings, url, id, account, secret: encrypted }, most, caller);
    if (endpoint === null) throw this.limits.refusal('webhook_endpoints', UNKNOWN_END_SECONDS);
    return { endpoint, secret };
  }
}
