import { Choice, Duration, Flag, Section } from '../config-fields.js';

export type NonceQueryMode = 'latest' | 'pending';

export class NonceChainQueryConfig {
  @Flag()
  enabled = true;

  /** `latest`, because load-balanced RPCs report a stale `pending`; `pending` is for accounts that others also send from. */
  @Choice(['latest', 'pending'])
  mode: NonceQueryMode = 'latest';
}

export class NonceConfig {
  @Section(NonceChainQueryConfig)
  chainQuery = new NonceChainQueryConfig();

  /** Milliseconds until the cursor is aligned with the chain again. */
  @Duration()
  nonceStateTimeout = 30_000;

  /** Milliseconds without an unknown transaction in any pool before a signer continues for which no endpoint returns its whole pool. */
  @Duration()
  poolQuietTime = 30_000;
}
