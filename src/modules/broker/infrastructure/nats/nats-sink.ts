import { Injectable } from '@nestjs/common';
import type { JetStreamClient, PubAck } from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import { BrokerConfig } from '../../../../config/lockstep-config.js';
import { bodyOf, eventId, type PublicEvent } from '../../../events/index.js';
import { BrokerMetrics } from '../../application/broker-metrics.js';
import { EventSink } from '../../domain/event-sink.js';
import { NatsConnection } from './nats-connection.js';
import { isAnswer, isOutOfTurn, publishFailure } from './nats-failures.js';

const ACK_TIMEOUT_MS = 10_000;
const TYPE_HEADER = 'Lockstep-Event-Type';

/** NATS JetStream: one subject for each signer, and the id of the event as the id of the message. */
@Injectable()
export class NatsSink extends EventSink {
  constructor(
    private readonly connection: NatsConnection,
    private readonly config: BrokerConfig,
    private readonly metrics: BrokerMetrics,
  ) {
    super();
  }

  /**
   * All at once, each on condition that the one before it is the last message of the stream: after one that is refused or lost the server
   * takes none of the others, so what is stored is always the first part. In a stream that others write to, too, the condition fails by
   * itself; then the rest goes one by one.
   */
  async publish(events: readonly PublicEvent[]): Promise<void> {
    const stream = await this.connection.open();
    const answers = await Promise.allSettled(events.map((event, n) => this.send(stream, event, events[n - 1])));
    const acks = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : null));
    const stored = acks.includes(null) ? acks.indexOf(null) : acks.length;
    this.count(acks.slice(0, stored));
    const refusal = answers[stored];
    if (refusal?.status !== 'rejected') return;
    if (!isOutOfTurn(refusal.reason)) throw await this.failure(refusal.reason, events, stored);
    await this.publishOneByOne(stream, events, stored);
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  private async publishOneByOne(stream: JetStreamClient, events: readonly PublicEvent[], from: number): Promise<void> {
    for (const [n, event] of events.entries()) {
      if (n < from) continue;
      try {
        this.count([await this.send(stream, event)]);
      } catch (error) {
        throw await this.failure(error, events, n);
      }
    }
  }

  private send(stream: JetStreamClient, event: PublicEvent, previous?: PublicEvent): Promise<PubAck> {
    const type = headers();
    type.set(TYPE_HEADER, event.type);
    const lastMsgID = previous && eventId(previous.position);
    return stream.publish(this.subjectOf(event), JSON.stringify(bodyOf(event)), {
      msgID: eventId(event.position),
      headers: type,
      timeout: ACK_TIMEOUT_MS,
      expect: { streamName: this.config.stream, ...(lastMsgID !== undefined && { lastMsgID }) },
    });
  }

  private subjectOf({ chainId, signer }: PublicEvent): string {
    return `${this.config.subjectPrefix}.${chainId}.${signer}`;
  }

  private count(acks: readonly (PubAck | null)[]): void {
    this.metrics.published(acks.length, acks.filter((ack) => ack?.duplicate).length);
  }

  /** Gives a connection up that did not answer, with what is still in it. */
  private async failure(error: unknown, events: readonly PublicEvent[], stored: number): Promise<unknown> {
    if (!isAnswer(error)) await this.connection.close();
    const event = events[stored];
    if (event === undefined) return error;
    return publishFailure(error, { id: eventId(event.position), subject: this.subjectOf(event) }, this.config, stored);
  }
}
