import type { Random } from './random.js';
import type { Network } from './network/network.js';
import type { Outage } from './network/sim-endpoint.js';
import { type LieKind, TRUTH, type View } from './network/view.js';
import { REQUIRED_CONFIRMATIONS } from './sim-config.js';
import type { World } from './world.js';

const OUTAGES: readonly Outage[] = ['refuses connections', 'times out', 'resets', 'is busy', 'bad gateway'];
/** Far past the six blocks after which a product may call the others late. */
const FAR_AHEAD = 0xffffff;

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

/** Parts of an endpoint are behind its own head, each for itself; at times of all endpoints, as when they share a provider. */
export async function lag(world: World): Promise<void> {
  const { random, network } = world;
  const late = random.chance(0.4) ? network.endpoints : [random.pick(network.endpoints)];
  const part = random.pick(['index', 'index', 'state', 'receipts'] as const);
  const blocks = random.between(1, 3);
  for (const endpoint of late) endpoint.view = { ...endpoint.view, [part]: blocks };
  world.note(`${late.length === 1 ? `endpoint ${late[0]?.index}` : 'all endpoints'}: ${part} ${blocks} blocks late`);
}

/** One endpoint, and always the same, says what is not so. */
export async function lie(world: World): Promise<void> {
  const { random, network } = world;
  const { liar } = network;
  if (!liar) return;
  const { kept, index, state, receipts } = liar.view;
  const view = { ...TRUTH, kept, index, state, receipts, ...lies(random, network) };
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
