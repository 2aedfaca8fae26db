import { Choice, Count, Duration, Flag, Retention } from '../config-fields.js';

/** `depth` counts blocks; `safe` and `finalized` are block tags of the chain itself. */
export const FINALITY_MODES = ['depth', 'safe', 'finalized'] as const;
export type FinalityMode = (typeof FINALITY_MODES)[number];

export class ResubmitConfig {
  /** Whether to resend attempts that an endpoint accepted. Attempts that were refused, or got no answer, are always resent. */
  @Flag()
  enabled = true;

  /** Milliseconds from the last send to a resend. */
  @Duration()
  interval = 60_000;

  /** Blocks after which an attempt that is not mined counts as too cheap, and is replaced by one at a higher price. Needs `enabled`. */
  @Count({ max: 100_000 })
  bumpAfterBlocks = 5;

  /** How many of the lowest unmined nonces of a signer get a higher price. The ones behind them are blocked, not too cheap. */
  @Count({ max: 10_000 })
  bumpDepth = 10;

  /**
   * Equal refusals in a row after which a transaction gives up its nonce. It fails, or waits for another nonce if it is not the cause. No
   * key: fewer end a transaction in the time of a short disturbance, more only delay what is sure.
   */
  readonly maxRefusals: number = 10;

  /**
   * The same limit for a transaction that may have been sent, when the cause is temporary or unknown. A price spike or a throttled endpoint
   * must not end a transaction: with the back-off between them, a hundred refusals take more than an hour and a half. Lack of funds
   * ends such a transaction only if the balance covers all that is in flight.
   */
  readonly maxRefusalsInDoubt: number = 100;
}

export class ConfirmationsConfig {
  /** The rule for finality: a number of blocks above, or a block tag that has reached the block. Default: see `chainInForce`. */
  @Choice(FINALITY_MODES)
  finality?: FinalityMode;

  /** With `depth`: blocks above its block that make a transaction final. */
  @Count({ min: 1, max: 100_000 })
  required?: number;

  /** Milliseconds until a receipt is requested again. */
  @Duration()
  staleReceiptTimeout = 60_000;

  /** Whether to request the receipt right after broadcasting: for chains that mine a transaction at once. */
  @Flag()
  fetchReceiptUponEntry = false;
}

export class TransactionsConfig {
  /** Milliseconds that finished transactions are kept, with all that belongs to them; infinite when they are kept for ever. */
  @Retention({
    min: 86_400_000,
    words: 'must be at least 1d: a deep reorg may still open a finished transaction again',
  })
  retention = Infinity;
}
