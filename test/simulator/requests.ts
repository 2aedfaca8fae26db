import { Conflict } from '../../src/kernel/errors.js';
import { parseHex } from '../../src/kernel/hex.js';
import { aRequest } from '../support/builders.js';
import { FIRST_MS } from './database-time.js';
import { afflict } from './payloads.js';
import type { Request } from './peers.js';
import type { SimNode } from './sim-node.js';
import { Violation } from './violation.js';
import type { World } from './world.js';

/** By the number of a request: early enough to pass while some of them wait. */
const EXPIRY_MS = 90_000;
/** Wei per gas: enough on quiet days. */
const NAMED_FEE_CAP = 3_000_000_000n;
const NAMED_TIP = 1_000_000_000n;
const SPEED_OF = ['standard', 'fast', 'standard', 'slow', 'urgent'] as const;

/** A client asks, at times with a key that was used before, and at times through two nodes at once. */
export async function create(world: World): Promise<void> {
  const { random } = world;
  const known = [...world.accepted.keys()];
  const repeated = known.length > 0 && random.chance(0.15);
  const [unanswered] = world.unanswered;
  const request = repeated ? random.pick(known) : (unanswered ?? newRequest(world));
  const doors = random.chance(0.2) ? 2 : 1;
  const awake = world.awake();
  if (awake.length === 0) return;
  const nodes = Array.from({ length: doors }, () => random.pick(awake));
  world.note(`create ${request} at ${nodes.map(({ id }) => id).join(' and ')}`);
  // A repeated one waits for whoever is changing its row (ON CONFLICT DO NOTHING does).
  const asked = nodes.map((node) => ask(world, request, () => submit(world, node, requestOf(world, request))));
  // Both are waited for, also when one fails: what the other one does belongs to this action.
  await world.unblocked(Promise.allSettled(asked));
  await Promise.all(asked);
  if (repeated && random.chance(0.3)) await world.unblocked(expectConflict(world, random.pick(awake), request));
}

/** The payload is made from the request's own name, so that a repetition is the same request. */
function requestOf(world: World, request: string, value = 1n): Request {
  const [signerIndex = '0', tag = '0'] = request.split('-');
  const signer = world.signers[Number(signerIndex)] ?? world.random.pick(world.signers);
  const base = aRequest();
  const priority = Number(tag) % 5 === 0 ? 1 : 0;
  const data = parseHex(`0x${Number(tag).toString(16).padStart(8, '0')}`);
  // By its name, too, so that a repetition says the same.
  const confirmations = Number(tag) % 4 === 0 ? (Number(tag) / 4) % 6 : null;
  if (confirmations !== null) world.chain.ownConfirmations.set(data, confirmations);
  const expiresAt = Number(tag) % 12 === 7 ? new Date(FIRST_MS + Number(tag) * EXPIRY_MS) : null;
  const payload = { ...base.payload, value, data };
  const prices = pricesOf(world, Number(tag));
  return { ...base, ...prices, signer, requestId: request, priority, confirmations, expiresAt, payload };
}

/** Some are in a hurry, and some name their price. */
function pricesOf({ network }: World, tag: number): Pick<Request, 'fees' | 'speed'> {
  const { fees } = aRequest();
  const isNamed = network.rules.namedPrices && tag % 6 === 3;
  const named = { maxFeePerGas: NAMED_FEE_CAP, maxPriorityFeePerGas: NAMED_TIP };
  return { fees: isNamed ? { ...fees, ...named } : fees, speed: SPEED_OF[tag % SPEED_OF.length] ?? 'standard' };
}

function newRequest(world: World): string {
  const { random } = world;
  const tag = world.requests + 1;
  const request = `${random.between(0, world.signers.length - 1)}-${tag}`;
  const made = requestOf(world, request);
  if (made.confirmations !== null) world.network.seen.note('a request with confirmations of its own');
  afflict(world, made);
  return request;
}

/** What was never answered may be stored, or not: the client finds out with the same key. */
export async function recheckReceipts(world: World, node: SimNode): Promise<void> {
  for (const request of [...world.unanswered])
    await ask(world, request, () => idOfNew(node, requestOf(world, request)));
}

async function ask(world: World, request: string, submitted: () => Promise<string>): Promise<void> {
  const before = world.accepted.get(request);
  if (before === undefined) world.unanswered.add(request);
  const txId = await submitted();
  if (before !== undefined && before !== txId) throw new Violation('I3', `${request} made ${before} and ${txId}`);
  const now = world.accepted.get(request);
  if (now !== undefined && now !== txId) throw new Violation('I3', `${request} made ${now} and ${txId} at once`);
  world.accepted.set(request, txId);
  world.unanswered.delete(request);
}

/** At times with the question for its nonce, which only the owner of the signer answers. */
async function submit({ play, random, seen }: World, node: SimNode, request: Request): Promise<string> {
  if (request.expiresAt !== null) seen.note('intake with an expiry');
  if (play.mode === 'worker-queue' && random.chance(0.3)) return node.createNow(request);
  return idOfNew(node, request);
}

async function idOfNew(node: SimNode, request: Request): Promise<string> {
  return (await node.create(request)).txId;
}

async function expectConflict(world: World, node: SimNode, request: string): Promise<void> {
  try {
    await node.create(requestOf(world, request, 2n));
  } catch (error) {
    if (error instanceof Conflict) return;
    throw error;
  }
  throw new Violation('I3', `${request} was accepted with another body`);
}
