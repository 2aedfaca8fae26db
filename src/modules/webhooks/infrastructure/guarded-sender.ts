import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Agent, type Dispatcher } from 'undici';
import { WebhooksConfig } from '../../../config/index.js';
import { Clock } from '../../../kernel/clock.js';
import { messageOf } from '../../../kernel/errors.js';
import { assertOutsideTransaction } from '../../../platform/database/transaction-scope.js';
import { retryAfterMs } from '../../../platform/http/retry-after.js';
import { type Answer, type Shipment, WebhookSender } from '../domain/webhook-sender.js';
import { readAnswer } from './answer-excerpt.js';
import { guardedConnector } from './guard/guarded-connector.js';
import { NameResolver } from './guard/name-resolver.js';
import { TargetGuard } from './guard/target-guard.js';
import { webhookUrl } from './guard/webhook-url.js';
import { postFailure, redirectFailure, TimedOut } from './post-failure.js';

const MAX_RETRY_AFTER_MS = 86_400_000;
const HEADERS = { 'content-type': 'application/json', 'user-agent': 'Lockstep' };

/**
 * Posts over connections of its own, which are kept for the next post. No post waits for the connection of another: how many go to one host at
 * once is decided before (`Places`). Proxies of the environment are not used: they would connect for us.
 */
@Injectable()
export class GuardedSender extends WebhookSender implements OnApplicationShutdown {
  private readonly agent: Agent;

  constructor(
    private readonly config: WebhooksConfig,
    private readonly clock: Clock,
    guard: TargetGuard,
    resolver: NameResolver,
  ) {
    super();
    this.agent = new Agent({
      connect: guardedConnector(guard, resolver, config.timeout),
      // One time-out covers them.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  async send(shipment: Shipment): Promise<Answer> {
    assertOutsideTransaction('a webhook');
    const startedMs = this.clock.monotonicMs();
    const answer = await this.withinTimeout((signal) => this.post(shipment, signal)).catch(noAnswer);
    return { ...answer, durationMs: Math.round(this.clock.monotonicMs() - startedMs) };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.agent.destroy();
  }

  private async withinTimeout<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { timeout } = this.config;
    const controller = new AbortController();
    const late = new TimedOut(`no complete answer within ${timeout / 1000} s`);
    const timer = setTimeout(() => controller.abort(late), timeout);
    try {
      return await work(controller.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  private async post({ url: text, headers, body }: Shipment, signal: AbortSignal): Promise<Untimed> {
    const url = webhookUrl(text);
    const response = await orAborted(
      this.agent.request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: 'POST',
        headers: { ...HEADERS, ...headers },
        body,
        signal,
      }),
      signal,
    );
    return this.answerOf(response);
  }

  private async answerOf({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<Untimed> {
    const { excerpt, failure } = await readAnswer(body);
    const wait = retryAfterMs(first(headers['retry-after']), this.clock.now().getTime(), MAX_RETRY_AFTER_MS);
    return {
      status: statusCode,
      body: excerpt,
      error: failure === null ? redirectFailure(statusCode, first(headers['location'])) : postFailure(failure),
      retryAfterMs: wait ?? null,
    };
  }
}

type Untimed = Omit<Answer, 'durationMs'>;

function noAnswer(error: unknown): Untimed {
  return { status: null, body: '', error: postFailure(error), retryAfterMs: null };
}

/** undici looks at the signal only once a connection is there: a post that waits for one ends here, and is then not sent any more. */
function orAborted<T>(request: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new TimedOut(messageOf(signal.reason))), { once: true });
  });
  return Promise.race([request, aborted]);
}

function first(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
