import { inspect } from 'node:util';
import { type Play, playOf } from './play.js';
import * as actions from './actions.js';
import { REAL_WIRE, type Wire } from './node-chains.js';
import type { LieKind } from './network/view.js';
import type { Script } from './network-script.js';
import { scriptOf } from './script.js';
import { settle } from './settle.js';
import { create } from './requests.js';
import type { SimDatabase } from './sim-database.js';
import { type Sabotage, SimNode } from './sim-node.js';
import { noteCurses } from './watch-network.js';
import { Violation } from './violation.js';
import { World } from './world.js';

/** Between two actions. */
const SHORT_MS = 300;

export interface RunOptions {
  readonly sabotage: Sabotage;
  readonly wire: Wire;
  readonly focus: LieKind | null;
  readonly play: Play;
}

export interface SeedResult {
  readonly seed: number;
  /** What went wrong; null when every invariant held. */
  readonly violation: string | null;
  readonly trace: readonly string[];
  readonly actions: number;
  readonly requests: number;
  /** Until everything had ended, from the end of the faults; null when it did not. */
  readonly blocks: number | null;
  /** What was exercised, and how often. */
  readonly seen: readonly (readonly [string, number])[];
}

/** One run from one seed. */
export async function runSeed(
  seed: number,
  database: SimDatabase,
  { sabotage = [], wire = REAL_WIRE, focus = null, play = playOf(seed) }: Partial<RunOptions> = {},
): Promise<SeedResult> {
  const world = new World(seed, database, sabotage, wire, focus, play);
  const script = scriptOf(world.random, play);
  await database.reset(SimNode.signers(3));
  await world.begin();
  const count = world.random.between(25, 60);
  const maxRequests = world.random.between(5, 30);
  let violation: string | null = null;
  let blocks: number | null = null;
  try {
    for (let index = 0; index < maxRequests / 4; index += 1) await create(world);
    for (let index = 0; index < count; index += 1) await act(world, script, maxRequests);
    blocks = await settle(world);
    noteCurses(world.network, world.snapshot);
  } catch (error) {
    world.note(world.describe());
    // Anything else that is thrown is a mistake of the simulator's or of the product's, and is to be looked at, too.
    violation = error instanceof Violation ? error.message : inspect(error);
  } finally {
    await world.close();
  }
  return {
    seed,
    violation,
    trace: world.trace,
    actions: count,
    requests: world.accepted.size,
    blocks,
    seen: world.seen.entries(),
  };
}

async function act(world: World, script: Script, maxRequests: number): Promise<void> {
  const action = world.random.weighted(script);
  if (action === create && world.accepted.size >= maxRequests) return;
  world.seen.note(`action ${action.name}`);
  await actions.asked(world, action);
  await world.hearBells();
  await world.passTime(SHORT_MS);
  await world.check();
}
