import { checkEnd } from './final-checks.js';
import { BLOCKS_TO_END, isQuiet } from './liveness.js';
import { OpenSlots } from './open-slots.js';
import type { SimNode } from './sim-node.js';
import type { World } from './world.js';

/** As far as `makeTimersDue` moves the timers in the database. */
const ROUND_MS = 120_000;

/** The last step is at once, as a node takes one that gave up a nonce. */
const LIVING = ['step', 'receipts', 'resubmit', 'step'] as const;

/**
 * Faults off, everybody awake, and time passes until nothing is left to do. Then the promises are counted.
 * @returns how many blocks it took
 */
export async function settle(world: World): Promise<number> {
  world.note('faults off');
  world.network.faultsOff();
  for (const node of world.nodes) {
    node.gate.disarm();
    await world.resume(node);
  }
  for (const signer of world.signers) await world.database.expireLease(signer);
  // At times one node is left for everything, at times all of them share.
  const survivors = world.random.chance(0.6) ? [world.random.pick(world.nodes)] : world.nodes;
  const open = new OpenSlots();
  let blocks = 0;
  do {
    await live(world, survivors);
    blocks += 1;
    open.saw(world.snapshot);
  } while (blocks < BLOCKS_TO_END && !isQuiet(world.snapshot, world.network, open));
  checkEnd(world.accepted, world.snapshot, world.network, open);
  return blocks;
}

/** All that is done between two blocks, by nodes that are awake, with whatever faults there are; the timers of two minutes run out. */
export async function live(world: World, nodes: readonly SimNode[]): Promise<void> {
  await world.database.makeTimersDue();
  world.passTime(ROUND_MS);
  for (const node of nodes) for (const job of LIVING) await world.run(node, job, world.signers);
  world.network.mine();
  for (const node of nodes) await world.run(node, 'follow', world.signers);
  await world.check();
}
