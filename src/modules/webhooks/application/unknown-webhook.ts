import { NotFound } from '../../../kernel/errors.js';

export function unknownWebhook(id: string): NotFound {
  return new NotFound('webhook_not_found', `no webhook endpoint ${id}`, 'GET /api/v1/webhooks lists the endpoints');
}

/** @throws NotFound `webhook_not_found` */
export function knownWebhook<T>(id: string, found: T | null): T {
  if (found === null) throw unknownWebhook(id);
  return found;
}
