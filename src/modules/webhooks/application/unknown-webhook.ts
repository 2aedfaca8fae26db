import { Conflict, NotFound } from '../../../kernel/errors.js';
import type { WebhookEndpoint } from '../domain/webhook-endpoint.js';

export function unknownWebhook(id: string): NotFound {
  return new NotFound('webhook_not_found', `no webhook endpoint ${id}`, 'GET /api/v1/webhooks lists the endpoints');
}

/** @throws NotFound `webhook_not_found` */
export function knownWebhook<T>(id: string, found: T | null): T {
  if (found === null) throw unknownWebhook(id);
  return found;
}

/** @throws NotFound `webhook_not_found`; Conflict `webhook_disabled` */
export function enabledWebhook(id: string, found: WebhookEndpoint | null): WebhookEndpoint {
  const endpoint = knownWebhook(id, found);
  if (endpoint.disabled === null) return endpoint;
  throw new Conflict(
    'webhook_disabled',
    `webhook endpoint ${id} is disabled: ${endpoint.disabled.reason}`,
    'enable it with PATCH first',
    { reason: endpoint.disabled.reason },
  );
}
