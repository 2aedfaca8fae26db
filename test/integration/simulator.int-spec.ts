import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hunt } from '../simulator/hunt.js';
import { PLANTED_BUGS } from '../simulator/planted-bugs.js';
import { runSeed } from '../simulator/run-seed.js';
import { SimDatabase } from '../simulator/sim-database.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** `npm run simulate` runs as many more as wanted; `.ci/run` 1,000. */
const SEEDS = 100;
/** Within so many seeds a planted bug must be noticed. */
const PATIENCE = 240;

let test: TestDatabase;
let database: SimDatabase;

beforeAll(async () => {
  test = await createTestDatabase();
  database = await SimDatabase.open(test.url);
});

afterAll(async () => {
  await database.close();
  await test.drop();
});

function seeds(count: number, from = 1): number[] {
  return Array.from({ length: count }, (_, index) => from + index);
}

describe('several nodes on one database', () => {
  it.each(seeds(SEEDS))('keep every invariant in the run of seed %d', async (seed) => {
    const { violation, trace } = await runSeed(seed, database);
    expect({ violation, trace: violation === null ? [] : trace }).toEqual({ violation: null, trace: [] });
  });
});

describe('the simulator', () => {
  it.each(PLANTED_BUGS)('notices $name', async (bug) => {
    const found = await hunt(bug, seeds(PATIENCE, bug.from), database);
    process.stdout.write(`planted: ${bug.name}; found by seed ${found?.seed}: ${found?.violation}\n`);
    expect(found?.violation).toEqual(expect.stringMatching(bug.shows));
  });
});
