import { Choice, Flag, Text, TextList } from '../config-fields.js';
import { Each } from '../each-rule.js';

const BROKER_TYPES = ['none', 'nats'] as const;
type BrokerType = (typeof BROKER_TYPES)[number];

export const BROKER_STARTS = ['end', 'beginning'] as const;
export type BrokerStart = (typeof BROKER_STARTS)[number];

/** The message broker that gets all public events. */
export class BrokerConfig {
  @Choice(BROKER_TYPES)
  type: BrokerType = 'none';

  /** Without credentials: `user`, `token` and `creds` have them. */
  @Each('isBrokerUrl', 'must be nats://host:port or tls://host:port, without credentials', isServerUrl)
  @TextList()
  urls: string[] = ['nats://127.0.0.1:4222'];

  @Text({ form: /^[A-Za-z0-9_-]{1,255}$/, words: 'must be letters, digits, - and _' })
  stream = 'LOCKSTEP';

  /** The chain id and the address of the signer follow it. */
  @Text({
    form: /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/,
    words: 'must be words of letters, digits, - and _, with dots between',
  })
  subjectPrefix = 'lockstep.events';

  /** Whether to create a stream that does not exist. */
  @Flag()
  createStream = false;

  /** Where the first start begins to read the event log. */
  @Choice(BROKER_STARTS)
  startAt: BrokerStart = 'end';

  @Text()
  user?: string;

  @Text()
  password?: string;

  @Text()
  token?: string;

  /** The content of a .creds file. */
  @Text()
  creds?: string;

  get isOn(): boolean {
    return this.type !== 'none';
  }
}

function isServerUrl(text: string): boolean {
  return /^(nats|tls):\/\/[^\s/@]+$/.test(text) && URL.canParse(text);
}
