import type { World } from './world.js';

/** Blocks. */
const FARTHEST_BACK = 6;
const GWEI = 1_000_000_000n;
/** Wei: all the gas of a transaction of ours, at what it offers on a quiet day. */
const PRICE_OF_ONE = 80_000_000_000_000n;

/** The chain's own word on finality stands still, leaps to the head, goes back, or is not to be had. */
export async function moveTags(world: World): Promise<void> {
  const { random, chain, network } = world;
  const { tags } = chain;
  const choice = random.pick(['stand still', 'jump', 'jump', 'go back', 'are unknown', 'follow', 'follow'] as const);
  tags.standStill = choice === 'stand still' || (tags.standStill && choice !== 'follow');
  tags.isAbsent = choice === 'are unknown';
  if (choice === 'jump') tags.jump(chain.height);
  if (choice === 'go back') tags.goBack(random.between(1, FARTHEST_BACK));
  chain.noteTags();
  if (network.rules.finality !== 'depth') network.seen.note(`the tags ${choice}`);
  world.note(`the tags ${choice}`);
}

/** The price of a block rises, at times above the caps of the config, and falls again; slowly, as by EIP-1559, or in a leap. */
export async function swingFees(world: World): Promise<void> {
  const { random, chain, network } = world;
  const before = chain.baseFee;
  const gwei = random.pick([1, 1, 1, 2, 5, 15, 40]);
  chain.baseFee = random.chance(0.5) ? BigInt(gwei) * GWEI : eighth(before, random.chance(0.5));
  const { maxFeePerGas } = network.rules;
  if (maxFeePerGas !== null && before <= maxFeePerGas && chain.baseFee > maxFeePerGas)
    network.seen.note('the base fee rises above the caps');
  if (maxFeePerGas !== null && before > maxFeePerGas && chain.baseFee <= maxFeePerGas)
    network.seen.note('the base fee falls below the caps again');
  world.note(`the base fee is ${chain.baseFee}`);
}

function eighth(fee: bigint, up: boolean): bigint {
  const changed = up ? (fee * 9n) / 8n : (fee * 7n) / 8n;
  return changed < GWEI ? GWEI : changed;
}

/** The money of an account is gone, whatever is in flight, or it comes back. */
export async function moveMoney(world: World): Promise<void> {
  const { random, chain, network } = world;
  const { address } = random.pick(world.signers);
  const before = chain.balanceAt(address, chain.height);
  const wei = random.pick([0n, 1n, 2n, 4n, 8n, 10_000n]) * PRICE_OF_ONE;
  chain.setBalance(address, wei);
  const inFlight = chain.pooled().some(({ from }) => from === address);
  network.seen.note(wei > before ? 'a top-up' : inFlight ? 'funds are spent in flight' : 'funds are spent');
  world.note(`the balance of ${address} is ${wei}`);
}
