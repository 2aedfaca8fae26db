import { ExecutionConfig, LockstepConfig } from '../../src/config/index.js';
import { ChainRules } from '../../src/modules/chain/application/chain-rules.js';
import { HeadTracker } from '../../src/modules/chain/index.js';
import { InFlightLimits } from '../../src/modules/ledger/index.js';
import { fakeOf } from './fakes/fake-of.js';
import { FakeClock } from './fakes/fake-clock.js';

/** With the defaults, and these settings of `execution`, at a node that asked for the head `lookedBeforeMs` before a block is recorded. */
export function inFlightLimits(
  settings: Partial<ExecutionConfig> = {},
  clock = new FakeClock(),
  lookedBeforeMs = 1,
): InFlightLimits {
  const execution = Object.assign(new ExecutionConfig(), settings);
  const heads = fakeOf(HeadTracker, { lastWithout: () => clock.monotonicMs() - lookedBeforeMs });
  return new InFlightLimits(
    execution,
    new ChainRules(Object.assign(new LockstepConfig(), { execution })),
    heads,
    clock,
  );
}
