import { Count, Text } from '../../../src/config/config-fields.js';
import {
  BrokerConfig,
  EventSink,
  PublishFailed,
  type SinkMessage,
  type SinkMetrics,
} from '../../../src/sinks/event-sink.js';

/** A broker that is a list, with room for so many messages. */
export class ToyBroker extends BrokerConfig {
  static readonly topics = new Map<string, SinkMessage[]>();

  @Text({ required: true })
  topic = '';

  @Count()
  room = 100;

  createSink(metrics: SinkMetrics): EventSink {
    const stored: SinkMessage[] = [];
    ToyBroker.topics.set(this.topic, stored);
    return new ToySink(stored, this.room, metrics);
  }
}

class ToySink extends EventSink {
  constructor(
    private readonly stored: SinkMessage[],
    private readonly room: number,
    private readonly metrics: SinkMetrics,
  ) {
    super();
  }

  async publish(messages: readonly SinkMessage[]): Promise<void> {
    const taken = messages.slice(0, this.room - this.stored.length);
    this.stored.push(...taken);
    this.metrics.count('broker_events_total', taken.length, { result: 'stored' });
    if (taken.length < messages.length)
      throw new PublishFailed('broker_refused', 'the list is full', 'give it more room', taken.length);
  }

  async close(): Promise<void> {}
}
