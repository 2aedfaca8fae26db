import type { World } from './world.js';

/** Blocks. */
const FARTHEST_BACK = 6;
const LONGEST_SWING = 12;
const LONGEST_SURGE = 24;
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

/** The price of a block rises, at times above the caps of the config, and falls again: in a leap, or from block to block. */
export async function swingFees(world: World): Promise<void> {
  const { random, chain } = world;
  const before = chain.baseFee;
  const choice = random.pick(['leaps', 'rises', 'rises', 'falls', 'surges'] as const);
  if (choice === 'leaps') chain.market.leapTo(BigInt(random.pick([1, 1, 1, 2, 5, 15, 40])) * GWEI);
  else if (choice === 'surges') surge(world);
  else chain.market.swing(choice, random.between(2, LONGEST_SWING));
  noteCaps(world, before);
  world.note(`the base fee ${choice}, and is ${chain.baseFee}`);
}

/** Tenfold and more, while no block has room for what was signed before. */
function surge({ random, chain, network }: World): void {
  const before = chain.baseFee;
  chain.market.swing('rises', LONGEST_SURGE);
  for (let block = 0; block < LONGEST_SURGE && chain.baseFee < 10n * before; block += 1) network.mine();
  if (chain.baseFee >= 10n * before) network.seen.note('the base fee rises tenfold within a few blocks');
  if (random.chance(0.5)) chain.market.swing('falls', LONGEST_SWING);
}

function noteCaps({ chain, network }: World, before: bigint): void {
  const { maxFeePerGas } = network.rules;
  if (maxFeePerGas === null || before > maxFeePerGas === chain.baseFee > maxFeePerGas) return;
  network.seen.note(
    `the base fee ${chain.baseFee > maxFeePerGas ? 'rises above the caps' : 'falls below the caps again'}`,
  );
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
