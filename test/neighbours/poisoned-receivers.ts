import { type Answer, type Shipment, WebhookSender } from '../../src/modules/webhooks/domain/webhook-sender.js';
import type { Poison } from './poisoned-wire.js';
import type { VirtualTime } from './virtual-time.js';

const LATENCY_MS = 50;
const SLOW_MS = 4_000;
const TIMEOUT_MS = 15_000;
/** The receiver of actor `n` has this path. */
export const urlOf = (actor: number): string => `https://receiver-${actor}.example/${actor}`;

/** Receivers of webhooks, the first of which answers badly. */
export class PoisonedReceivers extends WebhookSender {
  poison: Poison | null = null;
  /** Posts to the others. */
  toOthers = 0;

  constructor(private readonly time: VirtualTime) {
    super();
  }

  async send({ url }: Shipment): Promise<Answer> {
    const poison = url === urlOf(0) ? this.poison : null;
    if (url !== urlOf(0)) this.toOthers += 1;
    const durationMs = poison === 'hangs' ? TIMEOUT_MS : poison === 'slow' ? SLOW_MS : LATENCY_MS;
    await this.time.sleep(durationMs);
    const answer = { body: '', retryAfterMs: null, durationMs };
    if (poison === 'hangs') return { ...answer, status: null, error: 'timeout: no answer' };
    if (poison === 'malformed') return { ...answer, status: null, error: 'http: not valid HTTP' };
    return { ...answer, status: poison === 'refuses' ? 500 : 200, error: null };
  }
}
