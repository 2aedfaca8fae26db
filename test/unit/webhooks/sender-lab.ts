import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { parseAllowedTargets, WebhooksConfig } from '../../../src/config/index.js';
import type { Shipment } from '../../../src/modules/webhooks/domain/webhook-sender.js';
import { GuardedTargets } from '../../../src/modules/webhooks/infrastructure/guard/guarded-targets.js';
import { NameResolver } from '../../../src/modules/webhooks/infrastructure/guard/name-resolver.js';
import { TargetGuard } from '../../../src/modules/webhooks/infrastructure/guard/target-guard.js';
import { GuardedSender } from '../../../src/modules/webhooks/infrastructure/guarded-sender.js';
import { SystemClock } from '../../../src/platform/system-clock.js';

/** Answers each lookup with what comes next; the last answer counts for all after it. */
export class FakeResolver extends NameResolver {
  readonly asked: string[] = [];
  private readonly answers: (readonly string[])[];

  constructor(...answers: (readonly string[])[]) {
    super();
    this.answers = answers;
  }

  addressesOf(name: string): Promise<readonly string[]> {
    this.asked.push(name);
    const next = this.answers.length > 1 ? this.answers.shift() : this.answers[0];
    return Promise.resolve(next ?? []);
  }
}

export interface SenderOptions {
  readonly allow?: readonly string[];
  readonly timeoutMs?: number;
  readonly resolver?: NameResolver;
}

export function webhooksConfig({ allow = [], timeoutMs = 10_000 }: SenderOptions = {}): WebhooksConfig {
  return Object.assign(new WebhooksConfig(), { allow: parseAllowedTargets(allow), timeout: timeoutMs });
}

export function guardedTargets(allow: readonly string[] = []): GuardedTargets {
  return new GuardedTargets(new TargetGuard(webhooksConfig({ allow })));
}

/** With names that no resolver knows, unless a test gives one. */
export function guardedSender(options: SenderOptions = {}): GuardedSender {
  const config = webhooksConfig(options);
  const guard = new TargetGuard(config);
  const resolver = options.resolver ?? new FakeResolver();
  return new GuardedSender(config, new SystemClock(), guard, resolver);
}

export const shipment = (url: string, more: Partial<Shipment> = {}): Shipment => ({
  url,
  headers: { 'webhook-id': 'msg_1' },
  body: '{"type":"test"}',
  ...more,
});

export interface Received {
  readonly request: IncomingMessage;
  readonly body: string;
}

/** A receiver of webhooks on loopback that answers as a test wants. */
export class Receiver {
  readonly received: Received[] = [];
  readonly sockets: Socket[] = [];
  answer: (response: ServerResponse, request: IncomingMessage) => void = (response) => response.end();
  private readonly server;

  constructor(tls?: ServerOptions) {
    const listener: RequestListener = (request, response) => this.serve(request, response);
    this.server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener);
    this.server.on('connection', (socket: Socket) => this.sockets.push(socket));
  }

  async start(host = '127.0.0.1', port = 0): Promise<this> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, host, resolve);
    });
    return this;
  }

  get port(): number {
    // A listening TCP server has an address.
    return (this.server.address() as AddressInfo).port;
  }

  url(host = '127.0.0.1', scheme = 'http'): string {
    return `${scheme}://${host}:${this.port}/hook?a=1`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private serve(request: IncomingMessage, response: ServerResponse): void {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      this.received.push({ request, body });
      this.answer(response, request);
    });
  }
}
