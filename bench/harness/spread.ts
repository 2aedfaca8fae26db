/** What several repetitions of one measurement gave. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  /** In the order in which they were measured. */
  readonly samples: readonly number[];
}

/** Without samples (nothing could be measured) every figure is NaN, which meets no target. */
export function spreadOf(samples: readonly number[]): Spread {
  if (samples.length === 0) return { median: NaN, min: NaN, max: NaN, samples };
  const sorted = [...samples].sort((a, b) => a - b);
  return { median: quantile(sorted, 0.5), min: quantile(sorted, 0), max: quantile(sorted, 1), samples };
}

/** Linear between the two nearest samples. @param sorted ascending @param share 0 to 1 */
export function quantile(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)];
  const above = sorted[Math.ceil(place)];
  if (below === undefined || above === undefined) throw new RangeError('no samples: nothing was measured');
  return below + (above - below) * (place - Math.floor(place));
}

/** Of times that were measured one by one. @returns in the unit of the times */
export function percentiles(times: readonly number[]): { readonly p50: number; readonly p99: number } {
  const sorted = [...times].sort((a, b) => a - b);
  return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) };
}
