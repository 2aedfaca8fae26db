import { clientAddress } from '../../../../platform/http/client-address.js';
import type { EndpointSettings, WebhookEndpoint } from '../../domain/webhook-endpoint.js';
import type { EndpointChange } from '../../domain/webhook-endpoints.js';
import type { ChangeWebhookDto, CreateWebhookDto, WebhookDto } from './webhook.dto.js';

export function toSettings(body: CreateWebhookDto): EndpointSettings {
  return {
    url: body.url,
    description: body.description ?? null,
    types: body.types ?? null,
    chainIds: body.chainIds ?? null,
    signers: body.signers?.map((signer) => clientAddress(signer, body.chainIds)) ?? null,
    callbackOnly: body.callbackOnly ?? false,
  };
}

/** Null changes a filter or the description to "none"; elsewhere it counts as left out. */
export function toChange(body: ChangeWebhookDto): EndpointChange {
  const { url, description, types, chainIds, signers, callbackOnly, enabled } = body;
  return {
    ...(url == null ? {} : { url }),
    ...(description === undefined ? {} : { description }),
    ...(types === undefined ? {} : { types }),
    ...(chainIds === undefined ? {} : { chainIds }),
    ...(signers === undefined ? {} : { signers: signers?.map((signer) => clientAddress(signer, chainIds)) ?? null }),
    ...(callbackOnly == null ? {} : { callbackOnly }),
    ...(enabled == null ? {} : { enabled }),
  };
}

export function toView(endpoint: WebhookEndpoint): Pick<WebhookDto, keyof WebhookDto> {
  const { id, url, description, types, chainIds, signers, callbackOnly, disabled } = endpoint;
  return {
    id,
    url,
    description,
    types,
    chainIds,
    signers,
    callbackOnly,
    enabled: disabled === null,
    disabled: disabled && { since: disabled.since.toISOString(), reason: disabled.reason },
    failingSince: endpoint.failingSince?.toISOString() ?? null,
    previousSecretUntil: endpoint.previousSecretUntil?.toISOString() ?? null,
    createdAt: endpoint.createdAt.toISOString(),
    updatedAt: endpoint.updatedAt.toISOString(),
  };
}
