import type { ModelBlock } from '../../support/model-chain.js';
import { hex } from './encode.js';
import { tipAt } from './market.js';

const EMPTY_EVERY = 7;
const MAD_EVERY = 11;
/** A block in which somebody paid anything to be first. */
const MAD = 100n;

interface Asked {
  readonly blocks: readonly ModelBlock[];
  /** Wei per gas. */
  readonly nextBaseFee: bigint;
  readonly percentiles: readonly number[];
  /** Added to every tip, so that whoever signs again gets other bytes. */
  readonly jitter: bigint;
  /** Times what is right. */
  readonly factor: bigint;
}

/** `eth_feeHistory` of these blocks: some are empty, and one now and then is mad. */
export function feeHistory({ blocks, nextBaseFee, percentiles, jitter, factor }: Asked): Record<string, unknown> {
  const baseFees = [...blocks.map(({ baseFeePerGas }) => baseFeePerGas ?? nextBaseFee), nextBaseFee];
  return {
    oldestBlock: hex(blocks[0]?.number ?? 0),
    baseFeePerGas: baseFees.map((fee) => hex(fee * factor)),
    gasUsedRatio: blocks.map((block) => (isEmpty(block) ? 0 : 0.5)),
    reward: blocks.map((block) => percentiles.map((percentile) => hex(reward(block, percentile, jitter) * factor))),
  };
}

function reward(block: ModelBlock, percentile: number, jitter: bigint): bigint {
  if (isEmpty(block)) return 0n;
  const usual = tipAt(block.baseFeePerGas ?? 0n) + jitter;
  return (block.number % MAD_EVERY === MAD_EVERY - 1 ? MAD : 1n) * timesOf(percentile) * usual;
}

/** By how much more the hasty pay. */
function timesOf(percentile: number): bigint {
  if (percentile <= 50) return 1n;
  return percentile <= 75 ? 2n : 3n;
}

function isEmpty({ number }: ModelBlock): boolean {
  return number % EMPTY_EVERY === EMPTY_EVERY - 1;
}
