import { Choice, type HasRules, Text } from '../config/config-fields.js';
import type { ConfigMistake } from '../config/config-mistakes.js';
import { Unavailable } from '../kernel/errors.js';
import type { Address } from '../kernel/hex.js';
import type { ChainId } from '../kernel/signer-id.js';

/** A public event as it is published. */
export interface SinkMessage {
  readonly id: string;
  readonly type: string;
  readonly chainId: ChainId;
  readonly signer: Address;
  /** JSON. */
  readonly body: string;
}

/** A message broker. */
export abstract class EventSink {
  /**
   * Resolves when the broker has stored all of them, those of a signer in their order. One that is published again is the same message: a
   * broker that still knows its id does not store it twice.
   * @throws PublishFailed which says how many it has stored
   */
  abstract publish(messages: readonly SinkMessage[]): Promise<void>;
  abstract close(): Promise<void>;
}

export type PublishFailureCode = 'broker_unreachable' | 'broker_refused';

/** The broker does not take a message. The next try may succeed, after a person changed something when it is `broker_refused`. */
export class PublishFailed extends Unavailable {
  declare readonly code: PublishFailureCode;

  constructor(
    code: PublishFailureCode,
    message: string,
    advice: string,
    /** How many of the first messages are stored. */
    readonly stored = 0,
    options?: ErrorOptions,
  ) {
    super(code, message, advice, {}, options);
  }
}

/** The part of the metrics that is the sink's. */
export interface SinkMetrics {
  count(name: 'broker_events_total', by: number, labels: { readonly result: 'stored' | 'duplicate' }): void;
  set(name: 'broker_connected', value: 0 | 1): void;
}

export const BROKER_STARTS = ['end', 'beginning'] as const;

/** The section `broker`, which gets all public events: a subclass adds the keys of one type of sink, and `sink-types.ts` lists it. */
export abstract class BrokerConfig implements HasRules {
  @Text()
  type = 'none';

  /** Where the first start begins to read the event log. */
  @Choice(BROKER_STARTS)
  startAt: (typeof BROKER_STARTS)[number] = 'end';

  /** It connects when it is published to. */
  abstract createSink(metrics: SinkMetrics): EventSink;

  brokenRules(): readonly ConfigMistake[] {
    return [];
  }
}
