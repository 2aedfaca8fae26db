import { Unavailable } from '../../src/kernel/errors.js';
import { type SignerId, signerKey } from '../../src/kernel/signer-id.js';
import { cancel, pauseSigner, replace, speedUp } from './command-actions.js';
import { type Mishap, NodeDied } from './gate.js';
import { mine } from './network-actions.js';
import { create } from './requests.js';
import { live, ROUND_MS } from './settle.js';
import type { Job } from './node-jobs.js';
import { RENEW_MS, SHORT_LEASE_MS, SKEW_MS } from './sim-config.js';
import type { SimNode } from './sim-node.js';
import { WEAK_SPOTS, type Write, WRITES } from './weak-spots.js';
import type { World } from './world.js';

export type Action = (world: World) => Promise<void>;

const JOBS: readonly { readonly weight: number; readonly value: Job }[] = [
  { weight: 8, value: 'step' },
  { weight: 5, value: 'follow' },
  { weight: 2, value: 'receipts' },
  { weight: 2, value: 'resubmit' },
  { weight: 3, value: 'commands' },
  { weight: 1, value: 'balances' },
  { weight: 1, value: 'renew' },
];
/** A step allocates, signs, and then writes what came of its sends. */
const WRITES_BEFORE_OUTCOME = 3;
/** Nodes of the other mode meet each other by their heartbeats, and hand over. */
const QUEUE_JOBS = [
  ...JOBS,
  { weight: 4, value: 'renew' },
  { weight: 2, value: 'hand over' },
] as const satisfies typeof JOBS;
/** Where outside senders have nonces. */
const OUTSIDE_JOBS = [{ weight: 4, value: 'holds' }] as const satisfies typeof JOBS;
/** Awaits of a lane step with a few txs: a mishap comes somewhere among them. */
const AWAITS_OF_A_STEP = 45;
const WRITES_OF_A_ROUND = 8;
/** What clients and operators ask for. */
const ASKS: readonly Action[] = [create, create, cancel, replace, speedUp, pauseSigner];

/** Nothing special: one job of one node. */
export async function work(world: World): Promise<void> {
  const node = awakeNode(world);
  if (node) await world.run(node, anyJob(world), world.random.some(world.signers));
}

/** Webhooks of what has happened, by any node. */
export async function deliver(world: World): Promise<void> {
  const node = world.receivers && awakeNode(world);
  if (node) await world.run(node, 'deliver', world.signers);
}

/** A job in the middle of which something happens to its node. */
export async function workWithMishap(world: World): Promise<void> {
  const { random } = world;
  const node = awakeNode(world);
  if (!node) return;
  const mishap = random.pick<Mishap>(['pause', 'pause', 'hang', 'crash', 'crash', 'fail', 'fail']);
  arm(world, node, mishap);
  await world.run(node, random.chance(0.7) ? 'step' : anyJob(world), random.some(world.signers));
  node.gate.disarm();
}

/** A connection breaks on one side of a commit: of whatever is written, or of one kind of write, so that the seldom ones have their turn. */
export async function loseAnswer(world: World): Promise<void> {
  const { random } = world;
  const side = random.pick(['before', 'after', 'after'] as const);
  const write = random.chance(0.7) ? random.pick(WRITES) : null;
  await breakAt(world, side, write, () => random.pick(ASKS)(world));
}

/** In a round of everything, after something was asked for. Nobody knows whether it was written. */
export async function breakAt(world: World, side: 'before' | 'after', write: Write | null, ask: Action): Promise<void> {
  const { random } = world;
  const awake = world.awake();
  const place = `${side} COMMIT`;
  for (const { gate } of awake)
    gate.arm('fail', write === null ? random.between(1, WRITES_OF_A_ROUND) : 1, place, write ?? '');
  world.note(`${place} of ${write ?? 'something'} the connection will break`);
  await asked(world, ask);
  await live(world, awake);
  for (const { gate } of awake) gate.disarm();
}

export async function askForEverything(world: World): Promise<void> {
  for (const ask of ASKS) await asked(world, ask);
}

/**
 * The case the fence is for: an owner stops in the middle of its work, its lease runs out, another node takes over and goes
 * on, and then the first one wakes up and knows nothing of it.
 */
export async function takeover(world: World): Promise<void> {
  const { random } = world;
  const signer = random.pick(world.signers);
  const owner = ownerOf(world, signer) ?? awakeNode(world);
  if (!owner || owner.gate.isStopped) return;
  const mishap = random.pick<Mishap>(['pause', 'pause', 'hang', 'crash']);
  arm(world, owner, mishap);
  await world.run(owner, random.chance(0.75) ? 'step' : anyJob(world), [signer]);
  owner.gate.disarm();
  await endLease(world, signer);
  const successors = world.awake().filter((node) => node !== owner);
  if (successors.length === 0) return;
  const successor = random.pick(successors);
  await world.run(successor, 'step', [signer]);
  if (random.chance(0.5)) await mine(world);
  if (random.chance(0.5)) await world.run(successor, anyJob(world), [signer]);
  if (owner.gate.isHeld && random.chance(0.7)) await world.resume(owner);
}

/** Two nodes at the same moment, in whatever order the database makes of it. */
export async function race(world: World): Promise<void> {
  const { random } = world;
  const awake = world.awake();
  if (awake.length < 2) return;
  const first = random.pick(awake);
  const second = random.pick(awake.filter((node) => node !== first));
  const signers = random.some(world.signers);
  if (random.chance(0.5)) for (const signer of signers) await endLease(world, signer);
  world.note(`${first.id} and ${second.id} at once`);
  await Promise.all([world.run(first, anyJob(world), signers), world.run(second, anyJob(world), signers)]);
}

/** Whoever else has a key of ours. */
export async function outside(world: World): Promise<void> {
  await world.outside?.use();
}

export async function resume(world: World): Promise<void> {
  const held = world.nodes.filter(({ gate }) => gate.isHeld);
  if (held.length > 0) await world.resume(world.random.pick(held));
}

export async function kill(world: World): Promise<void> {
  await world.bury(world.random.pick(world.nodes));
}

/** A rolling restart. */
export async function restart(world: World): Promise<void> {
  const node = awakeNode(world);
  if (!node || node.isBusy) return;
  world.note(`${node.id} shuts down`);
  await world.unblocked(node.shutDown(), node);
  await world.bury(node);
}

export async function expire(world: World): Promise<void> {
  await endLease(world, world.random.pick(world.signers));
}

/** The lease of a signer runs out, and its owner does not know. */
async function endLease(world: World, signer: SignerId): Promise<void> {
  world.note(`the lease of ${signer.address} expires`);
  if (world.play.mode === 'basic') return world.database.expireLease(signer);
  const owner = ownerOf(world, signer);
  if (owner) await outlive(world, owner);
}

/** So much time goes by that the leases of a node run out, while the others renew theirs. */
async function outlive(world: World, slow: SimNode): Promise<void> {
  // A machine that stands still may stop its clock, too.
  const isFrozen = world.random.chance(0.5);
  world.note(`${slow.id} is slow${isFrozen ? ', and its clock stands still' : ''}`);
  for (let passed = 0; passed <= SHORT_LEASE_MS + SKEW_MS; passed += RENEW_MS) {
    await world.passTimeOfDatabase(RENEW_MS);
    for (const node of [...world.nodes]) {
      if (node !== slow || !isFrozen) await world.passTimeAt(node, RENEW_MS);
      if (node !== slow && !node.gate.isStopped) await world.run(node, 'renew', world.signers);
    }
  }
}

/** A block has what was sent before its sender could write down that it was sent. */
export async function quickBlock(world: World): Promise<void> {
  const node = awakeNode(world);
  if (!node) return;
  node.gate.arm('fail', WRITES_BEFORE_OUTCOME, 'before BEGIN');
  await world.run(node, 'step', world.signers);
  node.gate.disarm();
  await mine(world);
  await world.run(node, 'follow', world.signers);
}

/** Somebody else uses a nonce that we gave back, and another lease finds it so. */
export async function takeFreeSlot(world: World): Promise<void> {
  const { snapshot, signers, chain } = world;
  const free = snapshot.slots.find(({ status }) => status === 'RELEASED');
  const signer = signers.find(({ address }) => address === free?.signer);
  if (!free || !signer) return;
  chain.sendForeign(signer.address, BigInt(free.nonce));
  world.note(`a foreign transaction of ${signer.address} at the free nonce ${free.nonce}`);
  await mine(world);
  await endLease(world, signer);
  for (const node of world.awake()) await world.run(node, 'step', [signer]);
}

/** Some blocks and minutes of plain work, in the middle of whatever is wrong: what takes several looks comes to its end. */
export async function goOn(world: World): Promise<void> {
  const rounds = world.random.between(2, 5);
  const node = awakeNode(world);
  world.note(`${rounds} blocks go by`);
  const alone = world.play.mode === 'basic' || world.random.chance(0.5);
  for (let round = 0; node && !node.gate.isDead && round < rounds; round += 1)
    await live(world, alone ? [node] : world.awake());
}

export async function timersRunOut(world: World): Promise<void> {
  world.note('timers run out');
  await world.passTimeOfDatabase(ROUND_MS);
  for (const node of world.nodes) await world.passTimeAt(node, world.random.pick([100, 2_000, 40_000]));
}

/** What a client asks for, whatever it is answered. */
export async function asked(world: World, action: Action): Promise<void> {
  try {
    await action(world);
  } catch (error) {
    if (!isExpected(error)) throw error;
  }
}

/** What an action may run into without anything being wrong. */
export function isExpected(error: unknown): boolean {
  return error instanceof Unavailable || error instanceof NodeDied;
}

function anyJob({ play, random }: World): Job {
  const jobs = play.mode === 'basic' ? JOBS : QUEUE_JOBS;
  return random.weighted(play.hasOutside === true ? [...jobs, ...OUTSIDE_JOBS] : jobs);
}

function arm({ random }: World, { gate }: SimNode, mishap: Mishap): void {
  if (random.chance(0.5)) gate.arm(mishap, random.between(1, AWAITS_OF_A_STEP));
  else gate.arm(mishap, random.between(1, 5), random.pick(WEAK_SPOTS));
}

export function awakeNode(world: World): SimNode | null {
  const awake = world.awake();
  return awake.length === 0 ? null : world.random.pick(awake);
}

export function ownerOf(world: World, signer: SignerId): SimNode | undefined {
  const lease = world.snapshot.leases.find((each) => signerKey({ ...signer }) === `${signer.chainId}:${each.signer}`);
  return world.nodes.find(({ id }) => id === lease?.owner);
}
