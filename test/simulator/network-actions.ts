import { live } from './settle.js';
import type { World } from './world.js';

/** Blocks that a reorg takes back, of what is not final and of what is. */
const MOST_REORGED = 6;
const DEEPEST = 20;
const MOST_ROUNDS_TO_END = 6;
const GWEI = 1_000_000_000n;

export async function mine(world: World): Promise<void> {
  const { random, network, chain } = world;
  const blocks = random.between(1, 3);
  for (let block = 0; block < blocks; block += 1) network.mine(random.chance(0.3) ? random.between(0, 2) : Infinity);
  world.note(`mined to ${chain.height}`);
}

/** Never deeper than what may be final by now. */
export async function reorg(world: World): Promise<void> {
  const { random, chain, network } = world;
  const most = Math.min(MOST_REORGED, chain.openBlocks(), chain.height);
  if (most < 1) return;
  const depth = random.between(1, most);
  network.reorg(depth, random.chance(0.4));
  world.note(`reorg of ${depth}`);
}

/** Also something is taken back that a transaction of ours became final by. */
export async function deepReorg(world: World): Promise<void> {
  const { random, chain, network } = world;
  if (!network.rules.deepReorgs) return;
  for (let round = 0; round < MOST_ROUNDS_TO_END && finalHeights(world).length === 0; round += 1)
    await live(world, world.awake());
  const heights = finalHeights(world);
  if (heights.length === 0) return;
  const depth = chain.height - random.pick(heights) + random.between(1, 3);
  network.reorg(Math.min(chain.height, depth), random.chance(0.4));
  network.seen.note('a reorg of what was final');
  world.note(`deep reorg of ${depth}`);
}

/** Blocks with transactions that ended, not far below the head; in their order, for rows come in any. */
function finalHeights({ snapshot, chain }: World): number[] {
  const heights = snapshot.txs.flatMap(({ state, block, blockHash }) =>
    (state === 'CONFIRMED' || state === 'FAILED') && block !== null && chain.has(blockHash ?? '') ? [block] : [],
  );
  return [...new Set(heights)].filter((height) => height + DEEPEST > chain.height).sort((a, b) => a - b);
}

/** Somebody else who has the key uses a nonce that is next, or that is ours. */
export async function foreign(world: World): Promise<void> {
  const { random, chain, network } = world;
  const { address } = random.pick(world.signers);
  const [next = 0n] = await chain.transactionCounts([address], 'latest');
  network.gossip();
  const rivals = chain.pooled().filter(({ from }) => from === address);
  const nonce =
    rivals.length > 0 && random.chance(0.5) ? random.pick(rivals).nonce : next + BigInt(random.between(0, 2));
  if (random.chance(0.5)) chain.sendForeign(address, nonce);
  else {
    const answer = chain.offerForeign(address, nonce, BigInt(random.pick([1, 3, 30])) * GWEI);
    network.seen.note(`a foreign transaction competes by its price: ${answer}`);
  }
  world.note(`a foreign transaction of ${address} at nonce ${nonce}`);
}

export async function dropPool(world: World): Promise<void> {
  const { random, network } = world;
  const [only] = network.endpoints.filter(() => random.chance(0.3));
  world.note(only ? `the pool of endpoint ${only.index} forgets everything` : 'all pools forget everything');
  if (only) only.pool.clear();
  else network.dropPools();
}

export async function gossip({ network }: World): Promise<void> {
  network.gossip();
}

export async function weather(world: World): Promise<void> {
  const { random } = world;
  const rate = (): number => (random.chance(0.5) ? random.next() * 0.4 : 0);
  world.network.rates = {
    lostRequest: rate(),
    lostAnswer: rate(),
    refusedForNow: rate(),
    noReceipt: rate(),
    noEstimate: rate() / 2,
    otherRival: 0.9,
  };
  world.note('the weather changes');
}
