import type { Options } from './options.js';

/** How much is measured. */
export interface Sizes {
  /**
   * Of one run of row 1. It ends with a block, so that one block of 1 s is its error: 3 % of the 33 s that 200,000 take at 6,000 tx/s,
   * also with `--quick`.
   */
  readonly bareTransactions: number;
  /** Of one run of rows 2 and 7. */
  readonly transactions: number;
  /** Of one run of rows 5 and 6, which have many. */
  readonly fewer: number;
  /** Of row 8, for each signer: twenty blocks full of what it may have in flight at first. */
  readonly ofOneSigner: number;
  /** Before a run, and not measured. */
  readonly warmUp: number;
  /** Of one repetition of the intake, for each connection count and each side. */
  readonly intakeSeconds: number;
  /** Of one constant rate. */
  readonly rateSeconds: number;
  readonly finished: number;
  /** Of row 11, in the tables before: five events each. */
  readonly finishedBeforeCrowd: number;
  /** Who listens in row 11. Each endpoint and each stream is of one signer, as a client's is: together they are told of every event once. */
  readonly crowd: { readonly endpoints: number; readonly streams: number; readonly polls: number };
  readonly waiting: number;
  readonly idleSigners: number;
  readonly idleSeconds: number;
}

export function sizesOf({ quick, scale }: Options): Sizes {
  const scaled = (full: number, least: number): number => Math.max(least, Math.round(full * scale));
  return {
    bareTransactions: scaled(200_000, 200),
    transactions: scaled(quick ? 10_000 : 30_000, 200),
    fewer: scaled(10_000, 200),
    ofOneSigner: scaled(1_280, 128),
    warmUp: scaled(1_000, 100),
    intakeSeconds: scaled(quick ? 2 : 5, 1),
    rateSeconds: scaled(20, 3),
    finished: scaled(1_000_000, 1_000),
    finishedBeforeCrowd: scaled(200_000, 1_000),
    crowd: { endpoints: scaled(1_000, 10), streams: scaled(1_000, 10), polls: scaled(10_000, 100) },
    waiting: scaled(100_000, 1_000),
    idleSigners: scaled(10_000, 100),
    idleSeconds: scaled(20, 5),
  };
}
