import type { Random } from './random.js';
import type { Network } from './network/network.js';
import type { Outage } from './network/sim-endpoint.js';
import { type LieKind, TRUTH, type View } from './network/view.js';
import { REQUIRED_CONFIRMATIONS } from './sim-config.js';
import type { World } from './world.js';

const OUTAGES: readonly Outage[] = ['refuses connections', 'times out', 'resets', 'is busy', 'bad gateway'];
/** Far past the six blocks after which a product may call the others late. */
const FAR_AHEAD = 0xffffff;

export async function mine(world: World): Promise<void> {
  const { random, network, chain } = world;
  const blocks = random.between(1, 3);
  for (let block = 0; block < blocks; block += 1) network.mine(random.chance(0.3) ? random.between(0, 2) : Infinity);
  world.note(`mined to ${chain.height}`);
}

/** Never deeper than what may be final by now. */
export async function reorg(world: World): Promise<void> {
  const { random, chain, network } = world;
  if (chain.height <= REQUIRED_CONFIRMATIONS) return;
  const depth = random.between(1, REQUIRED_CONFIRMATIONS - 1);
  network.reorg(depth, random.chance(0.4));
  world.note(`reorg of ${depth}`);
}

/** Somebody else who has the key uses a nonce that is next, or that is ours. */
export async function foreign(world: World): Promise<void> {
  const { random, chain } = world;
  const { address } = random.pick(world.signers);
  const [next = 0n] = await chain.transactionCounts([address], 'latest');
  const { nonce } = chain.sendForeign(address, next + BigInt(random.between(0, 2)));
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
  };
  world.note('the weather changes');
}

/** Trouble of one endpoint that is no lie: it is away, late, cut off, without its old state, or in the place of another chain's. */
export async function trouble(world: World): Promise<void> {
  const { random } = world;
  const endpoint = random.pick(world.network.endpoints);
  const choice = random.pick([
    'outage',
    'outage',
    'late',
    'late',
    'isolated',
    'pruned',
    'elsewhere',
    'well',
    'well',
  ] as const);
  switch (choice) {
    case 'outage':
      endpoint.outage = random.pick(OUTAGES);
      break;
    case 'late':
      endpoint.view = { ...endpoint.view, behind: random.pick([1, 2, 8, 50]) };
      break;
    case 'isolated':
      endpoint.isolated = true;
      break;
    case 'pruned':
      endpoint.view = { ...endpoint.view, kept: 2 * REQUIRED_CONFIRMATIONS };
      break;
    case 'elsewhere':
      endpoint.moveTo(true);
      break;
    case 'well':
      endpoint.isWell();
      break;
  }
  world.note(`endpoint ${endpoint.index} is in trouble: ${choice}${choice === 'outage' ? `, ${endpoint.outage}` : ''}`);
}

/** One endpoint, and always the same, says what is not so. */
export async function lie(world: World): Promise<void> {
  const { random, network } = world;
  const { liar } = network;
  if (!liar) return;
  const view = { ...TRUTH, kept: liar.view.kept, ...lies(random, network) };
  network.tellLies(view);
  world.note(`endpoint ${liar.index} lies: ${describe(view)}`);
}

const LIES = {
  'far ahead': () => ({ ahead: FAR_AHEAD }),
  ahead: (random) => ({ ahead: random.between(1, 12) }),
  // The worst of all: it is believed to be the only one that is not late, and it has seen our nonces pass without us.
  'ahead without us': (random) => ({
    ahead: random.between(6, 12),
    denies: 'all',
    counts: BigInt(random.between(1, 8)),
  }),
  'nonces without us': (random) => ({ denies: 'all', counts: BigInt(random.between(1, 8)) }),
  'no receipts': (random) => ({ denies: random.pick(['some', 'all']) }),
  counts: (random) => ({ counts: random.pick([1n, 3n, 100n, 1_000n, -1n, -3n]) }),
  'another branch': (random, network) => ({ branch: branchOf(random, network), ahead: random.between(0, 2) }),
  'other receipts': () => ({ flips: true }),
  'receipts of its own': () => ({ invents: true }),
  fees: (random) => ({ fees: random.pick([1_000n, 1_000_000_000n]) }),
  reverts: () => ({ reverts: true }),
} as const satisfies Record<LieKind, (random: Random, network: Network) => Partial<View>>;

const KINDS = Object.keys(LIES) as LieKind[];

function lies(random: Random, network: Network): Partial<View> {
  const { focus } = network;
  const first = LIES[focus ?? random.pick(KINDS)](random, network);
  return focus === null && random.chance(0.3) ? { ...LIES[random.pick(KINDS)](random, network), ...first } : first;
}

function branchOf(random: Random, { chain }: Network): View['branch'] {
  return {
    from: Math.max(0, chain.height - random.between(0, 2 * REQUIRED_CONFIRMATIONS)),
    repeats: random.chance(0.4),
  };
}

function describe(view: View): string {
  const lies = Object.entries(view).filter(([name, value]) => value !== TRUTH[name as keyof View]);
  return lies
    .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
    .join(', ');
}
