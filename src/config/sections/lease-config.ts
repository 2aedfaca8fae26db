import { Duration } from '../config-fields.js';

/** Milliseconds throughout. */
export class LeaseConfig {
  @Duration()
  duration = 10_000;

  /** Below half of `duration`, so that one lost renewal does not lose the lease. */
  @Duration()
  renewInterval = 3_000;

  /** How long past its expiry a lease of another node is left alone. */
  @Duration({ min: 0 })
  clockSkewAllowance = 1_000;
}
