import { expect, it } from '@jest/globals';
import { runSeed } from '../simulator/run-seed.js';
import { simulatorDatabase } from '../support/simulator-database.js';

/** `npm run simulate` runs as many more as wanted; `.ci/run` 200. */
const SEEDS = 50;

const database = await simulatorDatabase();

it.each(Array.from({ length: SEEDS }, (_, index) => index + 1))(
  'several nodes on one database keep every invariant in the run of seed %d',
  async (seed) => {
    const { violation, trace } = await runSeed(seed, database);
    expect({ violation, trace: violation === null ? [] : trace }).toEqual({ violation: null, trace: [] });
  },
);
