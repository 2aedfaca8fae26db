import type { PlantedBug } from './planted-bug.js';
import { PLAIN } from './play.js';
import { runSeed, type SeedResult } from './run-seed.js';
import type { SimDatabase } from './sim-database.js';

/** The first seed that notices a planted bug, by what it leads to; null when none of them does. */
export async function hunt(
  bug: PlantedBug,
  seeds: readonly number[],
  database: SimDatabase,
): Promise<SeedResult | null> {
  if (bug.schema) await database.own.query(bug.schema.break);
  try {
    for (const seed of seeds) {
      const result = await runSeed(seed, database, { play: PLAIN, ...bug });
      if (result.violation !== null && bug.shows.test(result.violation)) return result;
    }
    return null;
  } finally {
    // Not with the rows of the bug in it.
    await database.clear();
    if (bug.schema) await database.own.query(bug.schema.mend);
  }
}
