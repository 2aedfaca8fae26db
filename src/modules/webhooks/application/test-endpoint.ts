import { Injectable } from '@nestjs/common';
import type { Viewer } from '../../../kernel/caller.js';
import { Clock } from '../../../kernel/clock.js';
import { TooMany } from '../../../kernel/errors.js';
import { IdGenerator } from '../../../kernel/id-generator.js';
import { OneEach } from '../../../platform/scheduling/one-each.js';
import { WebhookEndpoints } from '../domain/webhook-endpoints.js';
import { type Answer, WebhookSender } from '../domain/webhook-sender.js';
import { WebhookSecrets } from './webhook-secrets.js';
import { WebhookSignatures } from './webhook-signatures.js';
import { knownWebhook } from './unknown-webhook.js';

const VERSION = 1;
/** From the begin of a test of an endpoint to the next one. */
const INTERVAL_MS = 1_000;
/** The most tests at once of all endpoints of this node. */
const MOST_AT_ONCE = 16;

/** Sends one event of type `webhook.test` now, to a disabled endpoint, too. It is not repeated and leaves no delivery. */
@Injectable()
export class TestEndpoint {
  private readonly tests = new OneEach(MOST_AT_ONCE);
  /** When the last test of each endpoint began. Those of the last second, and of no others. */
  private readonly begunAtMs = new Map<string, number>();

  constructor(
    private readonly endpoints: WebhookEndpoints,
    private readonly sender: WebhookSender,
    private readonly signatures: WebhookSignatures,
    private readonly secrets: WebhookSecrets,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  /**
   * @param record called when it is about to be sent: what cannot be recorded is not sent
   * @throws NotFound `webhook_not_found`; TooMany `too_many_tests`; SecretUnreadable
   */
  async execute(endpointId: string, viewer: Viewer, record: () => Promise<void>): Promise<Answer> {
    const { url } = knownWebhook(endpointId, await this.endpoints.find(endpointId, viewer));
    const now = this.clock.monotonicMs();
    for (const [id, atMs] of this.begunAtMs) if (now - atMs >= INTERVAL_MS) this.begunAtMs.delete(id);
    const isBusy = this.tests.isRunning(endpointId) || this.begunAtMs.has(endpointId);
    const answer = isBusy ? null : this.tests.run(endpointId, () => this.send(endpointId, url, record));
    if (answer === null) {
      throw new TooMany(
        'too_many_tests',
        isBusy
          ? 'this endpoint is tested now, or was a moment ago'
          : `${MOST_AT_ONCE} endpoints are tested at this node`,
        'wait a second between tests',
      );
    }
    this.begunAtMs.set(endpointId, now);
    return answer;
  }

  private async send(endpointId: string, url: string, record: () => Promise<void>): Promise<Answer> {
    const stored = await this.endpoints.secretsOf(endpointId);
    const secrets = stored.map((secret) => this.secrets.decrypted(secret, endpointId));
    const at = this.clock.now();
    const id = `test-${this.ids.next()}`;
    const event = { id, type: 'webhook.test', version: VERSION, time: at.toISOString(), data: { webhook: endpointId } };
    const body = JSON.stringify(event);
    await record();
    return this.sender.send({ url, body, headers: this.signatures.headersOf({ id, at, body }, secrets) });
  }
}
