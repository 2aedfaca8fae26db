import { Choice, Duration, Flag, Section } from '../config-fields.js';

export type NonceQueryMode = 'latest' | 'pending';

export class NonceChainQueryConfig {
  @Flag()
  enabled = true;

  /** `latest` because load-balanced RPCs report a stale `pending`; `pending` is for accounts with outside senders. */
  @Choice(['latest', 'pending'])
  mode: NonceQueryMode = 'latest';
}

export class NonceConfig {
  @Section(NonceChainQueryConfig)
  chainQuery = new NonceChainQueryConfig();

  /** Milliseconds until the cursor is aligned with the chain again. */
  @Duration()
  nonceStateTimeout = 30_000;

  /** Milliseconds for which no pool may have anything unknown before a signer goes on whose pool nobody shows. */
  @Duration()
  poolQuietTime = 30_000;
}
