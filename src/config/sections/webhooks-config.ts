import type { AllowedTarget } from '../allowed-target.js';
import { AllowedTargets, Duration } from '../config-fields.js';

export class WebhooksConfig {
  /** Targets that are not on the public internet and may be sent to all the same. Plain http is for these only. */
  @AllowedTargets()
  allow: AllowedTarget[] = [];

  /** Milliseconds of one post, from the lookup of the name to the end of the answer. */
  @Duration()
  timeout = 15_000;
}
