const GWEI = 1_000_000_000n;
/** Nothing is free, even when no block is full. Wei per gas. */
export const QUIET_FEE = GWEI;
/** A base fee above this is no market, but a mistake of the simulator. Wei per gas. */
const MOST = 200n * GWEI;

export type Trend = 'rises' | 'falls' | 'stays';

/** What a block costs: the base fee of the next one, and the tips that others pay for a place in it. Wei per gas. */
export class Market {
  baseFee = QUIET_FEE;
  private trend: Trend = 'stays';
  private blocksLeft = 0;

  /** @param steep the base fee doubles from block to block, as on some rollups; else it changes by an eighth (EIP-1559) */
  constructor(private readonly steep: boolean) {}

  /** From one block to the next. */
  leapTo(baseFee: bigint): void {
    this.trend = 'stays';
    this.baseFee = baseFee;
  }

  /** For so many blocks. */
  swing(trend: Trend, blocks: number): void {
    this.trend = trend;
    this.blocksLeft = blocks;
  }

  blockWasMade(): void {
    if (this.trend !== 'stays') this.baseFee = within(this.moved());
    this.blocksLeft -= 1;
    if (this.blocksLeft <= 0) this.trend = 'stays';
  }

  /** The tip below which no transaction finds a place: while the base fee rises, blocks are full. */
  get leastTip(): bigint {
    return this.trend === 'rises' ? tipAt(this.baseFee) : 0n;
  }

  private moved(): bigint {
    const isUp = this.trend === 'rises';
    if (this.steep) return isUp ? 2n * this.baseFee : this.baseFee / 2n;
    return isUp ? (this.baseFee * 9n) / 8n : (this.baseFee * 7n) / 8n;
  }
}

/** The tip that others paid in a block, by its base fee: busy blocks have a high one of both. */
export function tipAt(baseFee: bigint): bigint {
  return GWEI + baseFee / 8n;
}

/** What of a price is left for who makes the block; negative when the price is below the base fee. */
export function tipOf(
  { maxFeePerGas, maxPriorityFeePerGas }: { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint },
  baseFee: bigint,
): bigint {
  const left = maxFeePerGas - baseFee;
  return left < maxPriorityFeePerGas ? left : maxPriorityFeePerGas;
}

function within(fee: bigint): bigint {
  if (fee < QUIET_FEE) return QUIET_FEE;
  return fee > MOST ? MOST : fee;
}
