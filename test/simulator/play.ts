import type { ExecutionMode } from '../../src/config/sections/workload-config.js';
import { Random } from './random.js';

/** How the nodes of a run live together. */
export interface Play {
  readonly mode: ExecutionMode;
  /** Whether the leases of all run out when the faults end; else only those of nodes that are gone do, in their own time. */
  readonly leasesEnd: boolean;
}

/** All of the simulator's faults, and little of the product's schedulers. */
export const PLAIN: Play = { mode: 'basic', leasesEnd: true };

/** So that what else a seed says stays as it was. */
const SALT = 0x6e6f6465;

export function playOf(seed: number): Play {
  const random = new Random(seed ^ SALT);
  return { mode: random.chance(0.5) ? 'worker-queue' : 'basic', leasesEnd: random.chance(0.5) };
}
