import type { Clock } from '../../src/kernel/clock.js';
import { ChainRules } from '../../src/modules/chain/index.js';
import { GasRules } from '../../src/modules/sending/application/gas-rules.js';
import { MoreGas } from '../../src/modules/sending/application/more-gas.js';
import { FakeClock } from './fakes/fake-clock.js';
import { fakeOf } from './fakes/fake-of.js';

/** Those of chains whose transactions may have so much gas; 0 for no such limit, undefined when it is not known. */
export function gasRules(cap?: bigint, clock: Clock = new FakeClock()): GasRules {
  return new GasRules(fakeOf(ChainRules, { transactionGasCap: () => cap }), clock);
}

/** For refusals that are about something else. */
export const NO_MORE_GAS = fakeOf(MoreGas, { execute: async () => new Map() });
