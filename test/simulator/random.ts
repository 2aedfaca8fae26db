/** Numbers from a seed (mulberry32): the same seed gives the same run, on every machine. */
export class Random {
  private state: number;

  constructor(seed: number) {
    // Neighbouring seeds must not begin alike.
    this.state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0;
  }

  /** In [0, 1). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Both ends included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.between(0, items.length - 1)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  }

  /** At least one, in their order. */
  some<T>(items: readonly T[]): T[] {
    const chosen = items.filter(() => this.chance(0.6));
    return chosen.length > 0 ? chosen : [this.pick(items)];
  }

  /** By weight. */
  weighted<T>(choices: readonly { readonly weight: number; readonly value: T }[]): T {
    const total = choices.reduce((sum, { weight }) => sum + weight, 0);
    let rest = this.next() * total;
    for (const { weight, value } of choices) {
      rest -= weight;
      if (rest < 0) return value;
    }
    return this.pick(choices).value;
  }
}

/** The 32 bits of state that a run has, from any seed of 64 bits; smaller seeds are their own. */
export function foldSeed(seed: bigint): number {
  const [low, high] = [Number(BigInt.asUintN(32, seed)), Number(BigInt.asUintN(32, seed >> 32n))];
  return (low ^ scrambled(high)) >>> 0;
}

/** The finalizer of MurmurHash3, which leaves 0 as it is. */
function scrambled(bits: number): number {
  const once = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
  return twice ^ (twice >>> 16);
}
