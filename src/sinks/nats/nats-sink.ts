import type { JetStreamClient, PubAck } from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import { EventSink, type SinkMessage, type SinkMetrics } from '../event-sink.js';
import { NatsConfig } from './nats-config.js';
import { NatsConnection } from './nats-connection.js';
import { isAnswer, isOutOfTurn, publishFailure } from './nats-failures.js';

const ACK_TIMEOUT_MS = 10_000;
const TYPE_HEADER = 'Lockstep-Event-Type';

export class NatsBroker extends NatsConfig {
  createSink(metrics: SinkMetrics): EventSink {
    return new NatsSink(new NatsConnection(this, metrics), this, metrics);
  }
}

/** NATS JetStream: one subject for each signer, and the id of the event as the id of the message. */
class NatsSink extends EventSink {
  constructor(
    private readonly connection: NatsConnection,
    private readonly config: NatsConfig,
    private readonly metrics: SinkMetrics,
  ) {
    super();
  }

  /**
   * All at once, each on condition that the one before it is the last message of the stream: after one that is refused or lost the server
   * takes none of the others, so what is stored is always the first part. In a stream that others write to, too, the condition fails by
   * itself; then the rest goes one by one.
   */
  async publish(messages: readonly SinkMessage[]): Promise<void> {
    const stream = await this.connection.open();
    const answers = await Promise.allSettled(messages.map((message, n) => this.send(stream, message, messages[n - 1])));
    const acks = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : null));
    const stored = acks.includes(null) ? acks.indexOf(null) : acks.length;
    this.count(acks.slice(0, stored));
    const refusal = answers[stored];
    if (refusal?.status !== 'rejected') return;
    if (!isOutOfTurn(refusal.reason)) throw await this.failure(refusal.reason, messages, stored);
    await this.publishOneByOne(stream, messages, stored);
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  private async publishOneByOne(
    stream: JetStreamClient,
    messages: readonly SinkMessage[],
    from: number,
  ): Promise<void> {
    for (const [n, message] of messages.entries()) {
      if (n < from) continue;
      try {
        this.count([await this.send(stream, message)]);
      } catch (error) {
        throw await this.failure(error, messages, n);
      }
    }
  }

  private send(stream: JetStreamClient, message: SinkMessage, previous?: SinkMessage): Promise<PubAck> {
    const type = headers();
    type.set(TYPE_HEADER, message.type);
    return stream.publish(this.subjectOf(message), message.body, {
      msgID: message.id,
      headers: type,
      timeout: ACK_TIMEOUT_MS,
      expect: { streamName: this.config.stream, ...(previous !== undefined && { lastMsgID: previous.id }) },
    });
  }

  private subjectOf({ chainId, signer }: SinkMessage): string {
    return `${this.config.subjectPrefix}.${chainId}.${signer}`;
  }

  private count(acks: readonly (PubAck | null)[]): void {
    const duplicates = acks.filter((ack) => ack?.duplicate).length;
    this.metrics.count('broker_events_total', acks.length - duplicates, { result: 'stored' });
    this.metrics.count('broker_events_total', duplicates, { result: 'duplicate' });
  }

  /** Gives a connection up that did not answer, with what is still in it. */
  private async failure(error: unknown, messages: readonly SinkMessage[], stored: number): Promise<unknown> {
    if (!isAnswer(error)) await this.connection.close();
    const message = messages[stored];
    if (message === undefined) return error;
    return publishFailure(error, { id: message.id, subject: this.subjectOf(message) }, this.config, stored);
  }
}
