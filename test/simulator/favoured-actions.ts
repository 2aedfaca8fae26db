import { parseAddress } from '../../src/kernel/hex.js';
import { maxOf } from '../../src/kernel/quantities.js';
import { FOREIGN_DATA } from '../support/model-chain.js';
import { askForEverything, asked, awakeNode, breakAt, ownerOf } from './actions.js';
import { cancel, replace } from './command-actions.js';
import { failOver, keepCopy } from './failover-actions.js';
import type { Mishap } from './gate.js';
import { create } from './requests.js';
import { live, ROUND_MS } from './settle.js';
import type { Job } from './node-jobs.js';
import type { TxRow } from './snapshot.js';
import type { WeakSpot } from './weak-spots.js';
import type { World } from './world.js';

/** A fill is made in the round after its nonce was given back, or in the next. */
const ROUNDS_TO_FILL = 2;
/** Until a transaction of somebody else is final, and was seen twice. */
const ROUNDS_TO_LOSE = 8;

/** What this run has more of than others. */
export async function favour(world: World): Promise<void> {
  const { favourite } = world.play;
  if (favourite === undefined) return;
  switch (favourite.kind) {
    case 'mishap':
      return mishapAt(world, favourite.mishap, favourite.spot);
    case 'unanswered write':
      return breakAt(world, 'after', favourite.write, askForEverything);
    case 'lost commit of a fill':
      return loseFill(world);
    case 'replace of what loses its nonce':
      return replaceInDoubt(world);
  }
}

/** In a round of everything, with something to send: the node passes the place, if it does anything. */
async function mishapAt(world: World, mishap: Mishap, spot: WeakSpot): Promise<void> {
  const { random } = world;
  // Before the mishap: a client waits for a node that stands still until somebody resumes it.
  await asked(world, create);
  const node = ownerOf(world, random.pick(world.signers)) ?? awakeNode(world);
  if (!node || node.gate.isStopped) return;
  // What fails goes on, so all may; one of the others has to be left.
  const armed = mishap === 'fail' ? world.awake() : [node];
  for (const { gate } of armed) gate.arm(mishap, random.pick([1, 1, 1, 2]), spot);
  await live(world, world.awake());
  for (const { gate } of armed) gate.disarm();
}

/** No send leaves, so a cancel gives a nonce back that is lower than others. What takes it is a fill, and the database loses just that. */
async function loseFill(world: World): Promise<void> {
  const { network } = world;
  const { endpoints } = network;
  const before = endpoints.map(({ refusesSends }) => refusesSends);
  for (const endpoint of endpoints) endpoint.refusesSends = () => true;
  for (let request = 0; request < 3; request += 1) await asked(world, create);
  await live(world, world.awake());
  const unsent = world.snapshot.txs.filter(({ state, kind }) => state === 'ALLOCATED' && kind === 'payload');
  const [lowest] = [...unsent].sort((a, b) => Number(a.nonce) - Number(b.nonce));
  if (lowest) await asked(world, (each) => cancel(each, lowest));
  await everywhere(world, ['commands']);
  endpoints.forEach((endpoint, index) => (endpoint.refusesSends = before[index] ?? (() => false)));
  await keepCopy(world);
  const known = fills(world);
  for (let round = 0; round < ROUNDS_TO_FILL && fills(world) === known; round += 1) await live(world, world.awake());
  if (fills(world) > known) await failOver(world);
}

function fills({ snapshot }: World): number {
  return snapshot.attempts.filter(({ kind }) => kind === 'fill').length;
}

/** A client replaces what is in a pool. Before its owner carries that out, a transaction of somebody else has its nonce for good. */
async function replaceInDoubt(world: World): Promise<void> {
  const { chain, network } = world;
  await asked(world, create);
  await everywhere(world, ['step']);
  const tx = await next(world);
  if (!tx) return;
  const [signer, nonce] = [parseAddress(tx.signer), BigInt(tx.nonce ?? 0)];
  const prices = world.snapshot.attempts.filter((each) => each.tx === tx.id).map(({ feeCap }) => BigInt(feeCap));
  if (chain.offerForeign(signer, nonce, 2n * prices.reduce(maxOf, 0n)) !== 'taken') return;
  await asked(world, (each) => replace(each, tx));
  network.mine();
  if (chain.minedBy(signer, nonce)?.tx.data !== FOREIGN_DATA) return;
  for (let round = 0; round < ROUNDS_TO_LOSE && !isPending(world, tx); round += 1) {
    await world.passTime(ROUND_MS);
    await everywhere(world, ['resubmit', 'receipts', 'follow']);
    network.mine();
  }
  await everywhere(world, ['commands']);
}

/** In a pool, with the next nonce of its signer, and alone with it. */
async function next({ snapshot, chain, signers }: World): Promise<TxRow | undefined> {
  const accounts = signers.map(({ address }) => address);
  const counts = await chain.transactionCounts(accounts, 'latest');
  return snapshot.txs.find(
    ({ state, kind, signer, nonce, replaces, replacedBy, withdrawn }) =>
      state === 'IN_MEMPOOL' &&
      kind === 'payload' &&
      [replaces, replacedBy, withdrawn].every((rival) => rival === null) &&
      Number(counts[accounts.indexOf(parseAddress(signer))]) === nonce,
  );
}

function isPending({ snapshot }: World, { id }: TxRow): boolean {
  return snapshot.txs.some((tx) => tx.id === id && tx.state === 'PENDING');
}

async function everywhere(world: World, jobs: readonly Job[]): Promise<void> {
  for (const node of world.awake()) for (const job of jobs) await world.run(node, job, world.signers);
  await world.check();
}
