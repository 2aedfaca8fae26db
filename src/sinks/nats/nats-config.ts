import { Each, Flag, Text, TextList } from '../../config/config-fields.js';
import type { ConfigMistake } from '../../config/config-mistakes.js';
import { BrokerConfig } from '../event-sink.js';

export abstract class NatsConfig extends BrokerConfig {
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

  @Text()
  user?: string;

  @Text()
  password?: string;

  @Text()
  token?: string;

  /** The content of a .creds file. */
  @Text()
  creds?: string;

  override brokenRules(): readonly ConfigMistake[] {
    const mistakes: ConfigMistake[] = [];
    const given = (['user', 'token', 'creds'] as const).filter((key) => this[key] !== undefined);
    if (given.length > 1)
      mistakes.push({ path: `${given[1]}`, problem: `cannot be given together with broker.${given[0]}` });
    if ((this.user === undefined) !== (this.password === undefined))
      mistakes.push({ path: 'password', problem: 'and broker.user are given together, or neither' });
    return mistakes;
  }
}

function isServerUrl(text: string): boolean {
  return /^(nats|tls):\/\/[^\s/@]+$/.test(text) && URL.canParse(text);
}
