import type { ConfigClass } from '../config/config-fields.js';
import type { BrokerConfig } from './event-sink.js';
import { NatsBroker } from './nats/nats-sink.js';

/** Each `broker.type`: a new sink is a file in this folder, and a line here. */
export const SINK_TYPES: Record<string, ConfigClass<BrokerConfig>> = {
  nats: NatsBroker,
};
