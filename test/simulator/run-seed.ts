import { inspect } from 'node:util';
import * as actions from './actions.js';
import { REAL_WIRE, type Wire } from './node-chains.js';
import type { LieKind } from './network/view.js';
import * as network from './network-actions.js';
import { settle } from './settle.js';
import type { SimDatabase } from './sim-database.js';
import { type Sabotage, SimNode } from './sim-node.js';
import { Violation } from './violation.js';
import { World } from './world.js';

const SCRIPT: readonly { readonly weight: number; readonly value: actions.Action }[] = [
  { weight: 22, value: actions.create },
  { weight: 26, value: actions.work },
  { weight: 14, value: actions.workWithMishap },
  { weight: 9, value: actions.takeover },
  { weight: 6, value: actions.race },
  { weight: 6, value: actions.resume },
  { weight: 2, value: actions.kill },
  { weight: 2, value: actions.restart },
  { weight: 3, value: actions.expire },
  { weight: 12, value: network.mine },
  { weight: 4, value: network.reorg },
  { weight: 2, value: network.dropPool },
  { weight: 2, value: network.foreign },
  { weight: 5, value: actions.timersRunOut },
  { weight: 4, value: actions.goOn },
  { weight: 6, value: network.trouble },
  { weight: 6, value: network.lie },
  { weight: 3, value: network.gossip },
  { weight: 3, value: network.weather },
];

/** Between two actions. */
const SHORT_MS = 300;

export interface RunOptions {
  readonly sabotage: Sabotage;
  readonly wire: Wire;
  readonly focus: LieKind | null;
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
}

/** One run from one seed. */
export async function runSeed(
  seed: number,
  database: SimDatabase,
  { sabotage = [], wire = REAL_WIRE, focus = null }: Partial<RunOptions> = {},
): Promise<SeedResult> {
  const world = new World(seed, database, sabotage, wire, focus);
  await database.reset(SimNode.signers(3));
  const count = world.random.between(25, 60);
  const maxRequests = world.random.between(5, 30);
  let violation: string | null = null;
  let blocks: number | null = null;
  try {
    for (let index = 0; index < maxRequests / 4; index += 1) await actions.create(world);
    for (let index = 0; index < count; index += 1) await act(world, maxRequests);
    blocks = await settle(world);
  } catch (error) {
    world.note(world.describe());
    // Anything else that is thrown is a mistake of the simulator's or of the product's, and is to be looked at, too.
    violation = error instanceof Violation ? error.message : inspect(error);
  } finally {
    await world.close();
  }
  return { seed, violation, trace: world.trace, actions: count, requests: world.accepted.size, blocks };
}

async function act(world: World, maxRequests: number): Promise<void> {
  const action = world.random.weighted(SCRIPT);
  if (action === actions.create && world.accepted.size >= maxRequests) return;
  try {
    await action(world);
  } catch (error) {
    if (!actions.isExpected(error)) throw error;
  }
  world.passTime(SHORT_MS);
  await world.check();
}
