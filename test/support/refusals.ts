import type { ResubmitConfig } from '../../src/config/lockstep-config.js';
import type { Clock } from '../../src/kernel/clock.js';
import { SecondObservations } from '../../src/modules/chain/application/second-observations.js';
import { FundsRepository } from '../../src/modules/ledger/index.js';
import { AskBalances } from '../../src/modules/sending/application/ask-balances.js';
import { RefusalEvidence } from '../../src/modules/sending/application/refusal-evidence.js';
import { FakeClock } from './fakes/fake-clock.js';
import { fakeOf } from './fakes/fake-of.js';
import { NO_OTHER_GAS } from './gas-rules.js';

/** Waits 5 ms for a balance. */
export function impatientBalances(clock: Clock = new FakeClock()): AskBalances {
  return new AskBalances(clock, { pause: () => new Promise((resolve) => setTimeout(resolve, 5)) });
}

/** Of signers that have so much in flight. */
export function refusalEvidence(
  committedWei: () => bigint,
  config: ResubmitConfig,
  clock: Clock = new FakeClock(),
): RefusalEvidence {
  return new RefusalEvidence(
    new SecondObservations(clock),
    fakeOf(FundsRepository, { committedWei: async (signers) => signers.map(committedWei) }),
    impatientBalances(clock),
    NO_OTHER_GAS,
    config,
  );
}
