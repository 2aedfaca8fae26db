import type { Clock } from '../../src/kernel/clock.js';
import { ChainRules } from '../../src/modules/chain/index.js';
import { GasRules } from '../../src/modules/sending/application/gas-rules.js';
import { OtherGas } from '../../src/modules/sending/application/other-gas.js';
import { FakeClock } from './fakes/fake-clock.js';
import { fakeOf } from './fakes/fake-of.js';

/** Those of chains whose transactions may have so much gas; 0 for no such limit, undefined when it is not known. */
export function gasRules(cap?: bigint, clock: Clock = new FakeClock()): GasRules {
  const pause = async (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));
  return new GasRules(fakeOf(ChainRules, { transactionGasCap: () => cap }), clock, { pause });
}

/** For refusals that are about something else. */
export const NO_OTHER_GAS = fakeOf(OtherGas, { execute: async () => new Map() });
