import type { ExecutionMode } from '../../src/config/sections/work-config.js';
import { FAVOURITES, type Favourite } from './favourites.js';
import { Random } from './random.js';
import type { Write } from './weak-spots.js';

/** How the nodes of a run live together. */
export interface Play {
  readonly mode: ExecutionMode;
  /** Whether the leases of all run out when the faults end; else only those of nodes that are gone do, in their own time. */
  readonly leasesEnd: boolean;
  /** Whether standbys are promoted that miss commits. */
  readonly losesCommits: boolean;
  /** Whether clients ask for something after such a loss before any node has looked what was sent. */
  readonly asksAtOnce?: boolean;
  /** Whether there are webhook endpoints. */
  readonly hasReceivers: boolean;
  /** Whether there are outside senders. */
  readonly hasOutside?: boolean;
  /** Commits of this write have no answer, but for those of lane steps. */
  readonly unanswered?: Write;
  /** What happens more often than in other runs. */
  readonly favourite?: Favourite | undefined;
}

/** All of the simulator's faults, and little of the product's schedulers. */
export const PLAIN: Play = { mode: 'basic', leasesEnd: true, losesCommits: false, hasReceivers: false };

/** So that what else a seed says stays as it was. */
const SALT = 0x6e6f6465;
const OUTSIDE_SALT = 0x6f757473;

export function playOf(seed: number): Play {
  const random = new Random(seed ^ SALT);
  return {
    mode: random.chance(0.5) ? 'worker-queue' : 'basic',
    leasesEnd: random.chance(0.5),
    losesCommits: random.chance(0.3),
    hasReceivers: random.chance(0.15),
    hasOutside: new Random(seed ^ OUTSIDE_SALT).chance(0.25),
    // In turn, so that no luck decides whether a few hundred seeds in a row have each.
    favourite: FAVOURITES[seed % FAVOURITES.length],
  };
}
