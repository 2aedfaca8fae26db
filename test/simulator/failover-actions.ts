import { asked } from './actions.js';
import { cancel } from './command-actions.js';
import { takeStock } from './lost-commits.js';
import { NO_FAULTS } from './network/surroundings.js';
import { TRUTH } from './network/view.js';
import { live } from './settle.js';
import type { World } from './world.js';

/** What clients ask for at once after a loss. */
const QUESTIONS = 3;

/** From now on a standby misses what is committed, whatever it is. */
export async function fallBehind(world: World): Promise<void> {
  if (world.play.losesCommits) await keepCopy(world);
}

export async function keepCopy(world: World): Promise<void> {
  if (world.isBehind) return;
  world.note('the standby falls behind');
  await world.database.fallBehind();
  world.isBehind = true;
}

/**
 * The standby is promoted. What the lost commits had sent is in pools or in blocks, and endpoints say so: what no pool shows, and what comes back
 * later, no node can know (docs/decisions/0012-lost-commits.md).
 */
export async function failOver(world: World): Promise<void> {
  if (!world.isBehind) return;
  world.isBehind = false;
  for (const node of [...world.nodes]) if (node.gate.holdsLocks) await world.bury(node);
  const { network, database, faults } = world;
  network.rates = NO_FAULTS;
  for (const endpoint of network.endpoints) {
    endpoint.isWell();
    endpoint.view = TRUTH;
  }
  network.gossip();
  await takeStock(world, () => database.failOver());
  faults.losesCommits = true;
  for (const signer of world.signers) await database.expireLease(signer);
  if (world.play.asksAtOnce) await askAtOnce(world);
  await live(world, world.awake());
}

/** Before any node has looked what was sent, clients cancel what seems to wait. */
async function askAtOnce(world: World): Promise<void> {
  for (let time = 0; time < QUESTIONS; time += 1) await asked(world, cancel);
}
