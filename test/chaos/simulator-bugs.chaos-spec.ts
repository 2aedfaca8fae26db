import { expect, it } from '@jest/globals';
import { hunt } from '../simulator/hunt.js';
import { PLANTED_BUGS } from '../simulator/planted-bugs.js';
import { simulatorDatabase } from '../support/simulator-database.js';

/** Within so many seeds a planted bug must be noticed. */
const PATIENCE = 240;
/** They take so long on a busy machine, where a seed takes two seconds. */
const MOST_MS = 600_000;

const database = await simulatorDatabase();

it.each(PLANTED_BUGS)(
  'the simulator notices $name',
  async (bug) => {
    const seeds = Array.from({ length: PATIENCE }, (_, index) => (bug.from ?? 1) + index);
    const found = await hunt(bug, seeds, database);
    process.stdout.write(`planted: ${bug.name}; found by seed ${found?.seed}: ${found?.violation}\n`);
    expect(found?.violation).toEqual(expect.stringMatching(bug.shows));
  },
  MOST_MS,
);
