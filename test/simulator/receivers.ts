import { setImmediate } from 'node:timers/promises';
import { ANYONE, DEFAULT_ACCOUNT } from '../../src/kernel/caller.js';
import type { PublicEventType } from '../../src/modules/events/index.js';
import { DeliverDue } from '../../src/modules/webhooks/application/deliver-due.js';
import { FanOut } from '../../src/modules/webhooks/application/fan-out.js';
import { RecordDeliveries } from '../../src/modules/webhooks/application/record-deliveries.js';
import { type NewEndpoint, WebhookEndpoints } from '../../src/modules/webhooks/domain/webhook-endpoints.js';
import { type Answer, type Shipment, WebhookSender } from '../../src/modules/webhooks/domain/webhook-sender.js';
import { WebhookSecrets } from '../../src/modules/webhooks/application/webhook-secrets.js';
import { WebhookSignatures } from '../../src/modules/webhooks/application/webhook-signatures.js';
import type { Container } from '../support/container.js';
import type { Snapshot } from './snapshot.js';
import { Violation } from './violation.js';

const ENDPOINTS = 100;
/** They share hosts, so that those that hang have neighbours. */
const HOSTS = 10;
/** Few, because of the time that they take. */
const ENDPOINTS_FOR_ALL = 5;
const ENDS = [
  'tx.confirmed',
  'tx.failed',
  'tx.cancelled',
  'tx.replaced',
  'tx.dropped',
] as const satisfies PublicEventType[];
/** Of rows of the log; each is one public event. */
const END_REASONS: ReadonlySet<string> = new Set(ENDS.map((type) => type.slice('tx.'.length)));
/** Of ten endpoints in a row: one host in three has only those that answer. */
const CONDUCT = [
  'answers',
  'hangs',
  'answers',
  'refuses',
  'hangs',
  'answers',
  'rests',
  'hangs',
  'answers',
  'hangs',
] as const;

interface Receiver {
  readonly conduct: (typeof CONDUCT)[number];
  readonly got: Set<string>;
  /** By tx: the newest event that came for the first time. */
  readonly newest: Map<string, readonly [bigint, bigint]>;
}

/** The webhook endpoints of one seed, and what they got. Four of ten never answer, and may keep nobody else waiting. */
export class Receivers {
  readonly violations: Violation[] = [];
  private readonly all: readonly Receiver[] = Array.from({ length: ENDPOINTS }, (_, index) => ({
    conduct: CONDUCT[(index + Math.floor(index / HOSTS)) % CONDUCT.length] ?? 'answers',
    got: new Set(),
    newest: new Map(),
  }));

  async register(node: Pick<Container, 'get'>): Promise<void> {
    const secret = node.get(WebhookSignatures).newSecret();
    for (const index of this.all.keys()) {
      const id = `00000000-0000-7000-9000-${index.toString().padStart(12, '0')}`;
      const endpoint: NewEndpoint = {
        id,
        account: DEFAULT_ACCOUNT,
        url: `https://host-${index % HOSTS}.example/${index}`,
        description: null,
        types: index < ENDPOINTS_FOR_ALL ? null : [...ENDS],
        chainIds: null,
        signers: null,
        callbackOnly: false,
        secret: node.get(WebhookSecrets).encrypted(secret, id),
      };
      await node.get(WebhookEndpoints).add(endpoint, Infinity, ANYONE);
    }
  }

  /** @returns how the receiver is, after it read the webhook */
  receive({ url, headers, body }: Shipment): Receiver['conduct'] {
    const receiver = this.all[Number(url.split('/').at(-1))];
    if (!receiver) throw new Error(`nobody is at ${url}`);
    const id = headers['webhook-id'] ?? '';
    const { txId } = (JSON.parse(body) as { readonly data: { readonly txId?: string } }).data;
    if (receiver.conduct === 'answers' && !receiver.got.has(id)) {
      receiver.got.add(id);
      if (txId !== undefined) this.checkOrder(receiver, txId, id);
    }
    return receiver.conduct;
  }

  /** Every receiver that answers has every end of a payload that the log has. Fills are nobody's request, and have no public events. */
  checkAllCame({ events, txs }: Snapshot): void {
    const payloads = new Set(txs.filter(({ kind }) => kind === 'payload').map(({ id }) => id));
    const ends = events.filter(({ reason, tx }) => END_REASONS.has(reason) && payloads.has(tx));
    for (const [index, { conduct, got }] of this.all.entries())
      for (const { xid, seq, tx, reason } of ends)
        if (conduct === 'answers' && !got.has(`${xid}-${seq}-0`))
          throw new Violation('F1', `webhook endpoint ${index} answers, and did not get that ${tx} is ${reason}`);
  }

  /** The events of a tx come in their order. What the database lost comes again. */
  private checkOrder({ newest }: Receiver, txId: string, id: string): void {
    const [xid = '', seq = ''] = id.split('-');
    const [lastXid, lastSeq] = newest.get(txId) ?? [0n, 0n];
    const isInOrder = BigInt(xid) === lastXid ? BigInt(seq) >= lastSeq : BigInt(xid) > lastXid;
    if (!isInOrder)
      this.violations.push(new Violation('webhooks', `event ${id} of ${txId} came after ${lastXid}-${lastSeq}`));
    newest.set(txId, [BigInt(xid), BigInt(seq)]);
  }
}

/** What a node posts. A receiver that hangs is given up when so much time has passed at the node. */
export class SimSender extends WebhookSender {
  private hanging: { leftMs: number; readonly giveUp: () => void }[] = [];

  constructor(
    private readonly receivers: Receivers,
    private readonly timeoutMs: number,
  ) {
    super();
  }

  async send(shipment: Shipment): Promise<Answer> {
    const answer = { status: 200, body: '', error: null, retryAfterMs: null, durationMs: 1 };
    switch (this.receivers.receive(shipment)) {
      case 'answers':
        return answer;
      case 'refuses':
        return { ...answer, status: 500 };
      case 'rests':
        return { ...answer, status: 429, retryAfterMs: 60_000 };
      case 'hangs':
        await new Promise<void>((giveUp) => this.hanging.push({ leftMs: this.timeoutMs, giveUp }));
        return { ...answer, status: null, error: 'timeout: no answer', durationMs: this.timeoutMs };
    }
  }

  passed(ms: number): void {
    for (const post of this.hanging) post.leftMs -= ms;
    for (const { leftMs, giveUp } of this.hanging) if (leftMs <= 0) giveUp();
    this.hanging = this.hanging.filter(({ leftMs }) => leftMs > 0);
  }
}

/** As the two schedulers do it, until nothing more can be posted now. */
export async function deliver(node: Container): Promise<void> {
  while ((await node.get(FanOut).execute()).hasMore);
  while ((await node.get(DeliverDue).execute()) > 0) await recorded(node);
}

/** Resolves when all answers that came are stored. */
export async function recorded(node: Container): Promise<void> {
  await setImmediate();
  await node.get(RecordDeliveries).idle();
}
