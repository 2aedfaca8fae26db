import { ExecutionConfig, LockstepConfig } from '../../src/config/index.js';
import { ChainRules } from '../../src/modules/chain/application/chain-rules.js';
import { InFlightLimits } from '../../src/modules/ledger/index.js';
import { FakeClock } from './fakes/fake-clock.js';

/** With the defaults, and these settings of `execution`. */
export function inFlightLimits(settings: Partial<ExecutionConfig> = {}, clock = new FakeClock()): InFlightLimits {
  const execution = Object.assign(new ExecutionConfig(), settings);
  return new InFlightLimits(execution, new ChainRules(Object.assign(new LockstepConfig(), { execution })), clock);
}
