import { Duration } from '../config-fields.js';

/** All values are milliseconds. */
export class LeaseConfig {
  @Duration()
  duration = 10_000;

  /** Below half of `duration`, so that one lost renewal does not lose the lease. */
  @Duration()
  renewInterval = 3_000;

  /** Time after its expiry in which a lease of another node is not taken over. */
  @Duration({ min: 0 })
  clockSkewAllowance = 1_000;
}
