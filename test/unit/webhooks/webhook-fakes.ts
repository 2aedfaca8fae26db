import { DEFAULT_ACCOUNT } from '../../../src/kernel/caller.js';
import type { PublicEvent } from '../../../src/modules/events/index.js';
import type { WebhookEndpoint } from '../../../src/modules/webhooks/domain/webhook-endpoint.js';
import {
  type EndpointChange,
  type NewEndpoint,
  type StoredSecrets,
  WebhookEndpoints,
} from '../../../src/modules/webhooks/domain/webhook-endpoints.js';
import { type Answer, type Shipment, WebhookSender } from '../../../src/modules/webhooks/domain/webhook-sender.js';
import { WebhookTargets } from '../../../src/modules/webhooks/domain/webhook-targets.js';
import { InvalidInput } from '../../../src/kernel/errors.js';
import { anAddress, DEV_CHAIN } from '../../support/builders.js';

export const AT = new Date('2026-11-22T10:00:00.000Z');

export function anEndpoint(overrides: Partial<WebhookEndpoint> = {}): WebhookEndpoint {
  return {
    id: 'endpoint-1',
    account: DEFAULT_ACCOUNT,
    url: 'https://example.com/hook',
    description: null,
    types: null,
    chainIds: null,
    signers: null,
    callbackOnly: false,
    disabled: null,
    failingSince: null,
    previousSecretUntil: null,
    createdAt: AT,
    updatedAt: AT,
    ...overrides,
  };
}

export function aPublicEvent(seq: number, overrides: Partial<PublicEvent> = {}): PublicEvent {
  return {
    position: { xid: 7n, seq: BigInt(seq), part: 0 },
    type: 'tx.accepted',
    time: AT,
    chainId: DEV_CHAIN,
    signer: anAddress(1),
    txId: 'tx',
    callback: null,
    account: DEFAULT_ACCOUNT,
    data: {},
    ...overrides,
  };
}

/** In memory. */
export class FakeEndpoints extends WebhookEndpoints {
  readonly rows = new Map<string, WebhookEndpoint & { secrets: string[] }>();

  override async add({ secret, ...settings }: NewEndpoint, most = Infinity): Promise<WebhookEndpoint | null> {
    if (this.rows.size >= most) return null;
    const row = { ...anEndpoint(settings), secrets: [secret] };
    this.rows.set(settings.id, row);
    return row;
  }
  override async find(id: string): Promise<WebhookEndpoint | null> {
    return this.rows.get(id) ?? null;
  }
  override async list(): Promise<WebhookEndpoint[]> {
    return [...this.rows.values()];
  }
  override async change(id: string, { enabled, ...settings }: EndpointChange): Promise<WebhookEndpoint | null> {
    const row = this.rows.get(id);
    if (row === undefined) return null;
    const disabled = enabled === false ? { since: AT, reason: 'test' } : null;
    this.rows.set(id, { ...row, ...settings, disabled });
    return this.find(id);
  }
  override completeChanges(): Promise<void> {
    return Promise.resolve();
  }
  override async rotateSecret(id: string, secret: string, keepMs: number): Promise<WebhookEndpoint | null> {
    const row = this.rows.get(id);
    if (row === undefined) return null;
    const until = new Date(AT.getTime() + keepMs);
    this.rows.set(id, { ...row, secrets: [secret, ...row.secrets], previousSecretUntil: until });
    return this.find(id);
  }
  override async secretsOf(id: string): Promise<readonly string[]> {
    return this.rows.get(id)?.secrets ?? [];
  }
  override async notEncryptedAs(prefix: string | null, most: number): Promise<readonly StoredSecrets[]> {
    const isOld = (secret: string): boolean => prefix === null || !secret.startsWith(prefix);
    const old = [...this.rows.values()].filter(({ secrets }) => secrets.some(isOld)).slice(0, most);
    return old.map(({ id, secrets }) => ({ id, secrets: [...secrets] }));
  }
  override async replaceSecrets({ id, secrets }: StoredSecrets, by: readonly string[]): Promise<boolean> {
    const row = this.rows.get(id);
    if (row === undefined || String(row.secrets) !== String(secrets)) return false;
    this.rows.set(id, { ...row, secrets: [...by] });
    return true;
  }
  override async remove(id: string): Promise<boolean> {
    return this.rows.delete(id);
  }
  override async disable(id: string, reason: string, onlyAt?: string): Promise<void> {
    const row = this.rows.get(id);
    if (row && (onlyAt === undefined || onlyAt === row.url))
      this.rows.set(id, { ...row, disabled: { since: AT, reason } });
  }
  override async setFailing(id: string, isFailing: boolean): Promise<void> {
    const row = this.rows.get(id);
    if (row) this.rows.set(id, { ...row, failingSince: isFailing ? AT : null });
  }
}

/** Takes URLs that begin with https, and writes hosts in lower case. */
export class HttpsTargets extends WebhookTargets {
  override checkedUrl(url: string): URL {
    if (!url.startsWith('https:')) throw new InvalidInput('invalid_webhook_url', 'no', 'use https');
    return new URL(url);
  }
}

export const OK: Answer = { status: 200, body: 'thanks', error: null, retryAfterMs: null, durationMs: 1 };

/** Answers as it is told to, and remembers what was sent. */
export class FakeSender extends WebhookSender {
  readonly sent: Shipment[] = [];
  answer: (shipment: Shipment) => Promise<Answer> = async () => OK;

  override send(shipment: Shipment): Promise<Answer> {
    this.sent.push(shipment);
    return this.answer(shipment);
  }
}
