import type { AllowedTarget } from '../allowed-target.js';
import { AllowedTargets, Count, Duration } from '../config-fields.js';

/** No timer waits for it. */
const TEN_YEARS_MS = 3_650 * 86_400_000;

export class WebhooksConfig {
  /** Targets that are not on the public internet and may be sent to all the same. Plain http is for these only. */
  @AllowedTargets()
  allow: AllowedTarget[] = [];

  /** Milliseconds of one post, from the lookup of the name to the end of the answer. */
  @Duration()
  timeout = 15_000;

  /** Posts of a node to one endpoint at the same time. */
  @Count({ max: 1_000 })
  concurrency = 64;

  /** Milliseconds from an event to the end of the retries of its deliveries. */
  @Duration({ max: TEN_YEARS_MS })
  retryFor = 3 * 86_400_000;

  /** Milliseconds for which a delivery that succeeded can be read and replayed. */
  @Duration({ max: TEN_YEARS_MS })
  keepDelivered = 7 * 86_400_000;

  /** Milliseconds for which a delivery that was given up can be read and replayed. */
  @Duration({ max: TEN_YEARS_MS })
  keepDead = 30 * 86_400_000;
}
