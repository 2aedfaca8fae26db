import { BrokerConfig, EventSink, PublishFailed, type SinkMessage } from '../../../src/sinks/event-sink.js';
import { parseEventId } from '../../../src/modules/events/index.js';

/** A broker in memory. */
export class MemorySink extends EventSink {
  /** Rows and parts, in the order in which they came: `3` or `3.1`. */
  readonly got: string[] = [];
  readonly batches: number[] = [];
  /** Refuses this event and all behind it. */
  refuses: string | null = null;
  /** Runs before the events are stored. */
  onPublish: () => void = () => undefined;

  async publish(messages: readonly SinkMessage[]): Promise<void> {
    this.onPublish();
    this.batches.push(messages.length);
    const names = messages.map(({ id }) => {
      const place = parseEventId(id);
      return place?.part ? `${place.seq}.${place.part}` : `${place?.seq}`;
    });
    const refused = this.refuses === null ? -1 : names.indexOf(this.refuses);
    this.got.push(...(refused < 0 ? names : names.slice(0, refused)));
    if (refused >= 0) throw new PublishFailed('broker_refused', `event ${this.refuses} is refused`, 'do this', refused);
  }

  async close(): Promise<void> {}
}

export class MemoryBroker extends BrokerConfig {
  createSink(): MemorySink {
    return new MemorySink();
  }
}
