import { type Spread, spreadOf } from './spread.js';

/** One line of the table. */
export interface Finding {
  readonly row: number;
  readonly what: string;
  readonly unit: string;
  readonly measured: Spread;
  /** Measured in the same run. */
  readonly yardstick: Yardstick | null;
  /** Median over median, or the median of what each pair of samples gives. */
  readonly ratio: number | null;
  readonly target: Target | null;
  /** Null when there is no target. */
  readonly met: boolean | null;
}

export interface Yardstick {
  readonly name: string;
  readonly value: Spread;
}

export interface Target {
  readonly of: 'value' | 'ratio';
  readonly bound: 'at least' | 'at most' | 'above' | 'below';
  readonly limit: number;
}

export interface Comparison {
  readonly yardstick?: {
    readonly name: string;
    readonly samples: readonly number[];
    /** The samples at one place of both lists were taken one after the other, so that what changes over the run changes both. */
    readonly paired?: boolean;
  };
  readonly target?: Target;
}

export function finding(
  row: number,
  what: string,
  unit: string,
  samples: readonly number[],
  { yardstick, target }: Comparison = {},
): Finding {
  const measured = spreadOf(samples);
  const compared = yardstick ? { name: yardstick.name, value: spreadOf(yardstick.samples) } : null;
  const ratio = yardstick ? ratioOf(samples, yardstick) : null;
  const subject = target?.of === 'ratio' ? ratio : measured.median;
  const met = target && subject !== null ? holds(target, subject) : null;
  return { row, what, unit, measured, yardstick: compared, ratio, target: target ?? null, met };
}

function ratioOf(samples: readonly number[], yardstick: NonNullable<Comparison['yardstick']>): number {
  const { samples: others, paired = false } = yardstick;
  // A measurement that failed has no sample, and the pairs behind it would be wrong.
  if (!paired || others.length !== samples.length) return spreadOf(samples).median / spreadOf(others).median;
  return spreadOf(samples.map((sample, index) => sample / (others[index] ?? NaN))).median;
}

export const ratio = (bound: Target['bound'], limit: number): Target => ({ of: 'ratio', bound, limit });

export const value = (bound: Target['bound'], limit: number): Target => ({ of: 'value', bound, limit });

function holds({ bound, limit }: Target, subject: number): boolean {
  switch (bound) {
    case 'at least':
      return subject >= limit;
    case 'at most':
      return subject <= limit;
    case 'above':
      return subject > limit;
    case 'below':
      return subject < limit;
  }
}
