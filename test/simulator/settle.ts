import { THE_ACCOUNT } from './command-actions.js';
import { recheckReceipts } from './requests.js';
import { aPauseOrder } from '../support/builders.js';
import { MOST_ROUNDS } from './fairness.js';
import { checkEnd } from './final-checks.js';
import { BLOCKS_TO_END, BLOCKS_TO_REST, isQuiet, onlyHopelessAreLeft } from './liveness.js';
import { OpenSlots } from './open-slots.js';
import type { ExecutionMode } from '../../src/config/sections/work-config.js';
import { ResumeSigner } from '../../src/modules/ops/application/resume-signer.js';
import type { Job } from './node-jobs.js';
import type { SimNode } from './sim-node.js';
import type { World } from './world.js';

/** So long a node may act on what it learned in the trouble: fees that leapt are believed when a second followed block confirms them. */
const ECHO_BLOCKS = 5;

/** Between two blocks. */
export const ROUND_MS = 120_000;

/**
 * Renewing comes first: a node that another one took a lease from learns it then, and it may hold the lease in its memory for long. The last
 * step is at once, as a node takes one that gave up a nonce.
 */
const LIVING = {
  basic: ['renew', 'step', 'commands', 'receipts', 'resubmit', 'step'],
  'worker-queue': ['renew', 'hand over', 'step', 'commands', 'receipts', 'resubmit', 'step'],
} as const satisfies Record<ExecutionMode, readonly Job[]>;

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
  world.bells.reliable = true;
  world.seen.note(`settled while leases ${world.play.leasesEnd ? 'end' : 'stay'}`);
  // At times one node is left for everything, at times all of them share.
  const survivors = world.random.chance(0.6) ? [world.random.pick(world.nodes)] : world.nodes;
  const open = new OpenSlots();
  await endLeases(world, survivors);
  for (const scope of [...world.signers, THE_ACCOUNT])
    await survivors[0]?.get(ResumeSigner).execute(scope, aPauseOrder(null, 'the simulation'));
  for (const node of survivors) await recheckReceipts(world, node);
  let blocks = 0;
  do {
    world.faults.on = blocks < ECHO_BLOCKS;
    await live(world, survivors);
    blocks += 1;
    open.saw(world.snapshot);
  } while (!isQuiet(world.snapshot, world.network, open) && blocks < mostBlocks(world));
  checkEnd(world.accepted, world.snapshot, world.network, open);
  world.outside?.checkEnd(world.snapshot);
  await allReceived(world, survivors);
  return blocks;
}

function mostBlocks({ snapshot, network }: World): number {
  return onlyHopelessAreLeft(snapshot, network) ? BLOCKS_TO_REST : BLOCKS_TO_END;
}

/** What ended is delivered within the rounds that anybody may be passed over, whoever else hangs. */
async function allReceived(world: World, survivors: readonly SimNode[]): Promise<void> {
  if (!world.receivers) return;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    await world.passTime(ROUND_MS);
    for (const node of survivors) await world.run(node, 'deliver', world.signers);
  }
  await world.check();
  world.receivers.checkAllCame(world.snapshot);
}

/**
 * What only a take-over cures is a fault: where leases do not end, a living owner has to get on with what it has. Whoever is gone
 * has lost its lease by now, or does so while blocks go by.
 */
async function endLeases({ play, signers, snapshot, database }: World, survivors: readonly SimNode[]): Promise<void> {
  if (!play.leasesEnd && play.mode === 'worker-queue') return;
  for (const signer of signers) {
    const lease = snapshot.leases.find((each) => each.signer === signer.address);
    if (play.leasesEnd || !survivors.some(({ id }) => id === lease?.owner)) await database.expireLease(signer);
  }
}

/** All that is done between two blocks, by nodes that are awake, with whatever faults there are; the timers of two minutes run out. */
export async function live(world: World, nodes: readonly SimNode[]): Promise<void> {
  const before = world.snapshot;
  await world.passTime(ROUND_MS);
  const nowMs = world.chain.seconds * 1000;
  for (const node of nodes) {
    for (const job of LIVING[world.play.mode]) await world.run(node, job, world.signers);
    if (world.outside) await world.run(node, 'holds', world.signers);
  }
  await world.outside?.goOn();
  if (world.receivers) for (const node of nodes) await world.run(node, 'deliver', world.signers);
  world.network.mine();
  for (const node of nodes) await world.run(node, 'follow', world.signers);
  await world.check();
  world.fairness.round(
    before,
    world.snapshot,
    nowMs,
    new Set(nodes.filter(({ gate }) => !gate.isHeld && !gate.isDead).map(({ id }) => id)),
  );
}
