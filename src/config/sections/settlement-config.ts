import { Choice, Count, Duration, Flag } from '../config-fields.js';

/** `depth` counts blocks; `safe` and `finalized` are block tags of the chain itself. */
export const FINALITY_MODES = ['depth', 'safe', 'finalized'] as const;
export type FinalityMode = (typeof FINALITY_MODES)[number];

export class ResubmitConfig {
  /** Send again what a node has taken. What was refused, or got no answer, goes out again in any case. */
  @Flag()
  enabled = true;

  /** Milliseconds after the last submission. */
  @Duration()
  interval = 60_000;

  /** Equal refusals in a row after which a transaction gives up its nonce: it fails, or waits for another if it is not to blame. */
  @Count({ max: 10_000 })
  maxRefusals = 10;

  /**
   * The same for one that may be out, where circumstances are to blame, or nobody knows who: a price spike or a throttled endpoint must
   * end nothing, and with the pauses between them a hundred take more than an hour and a half.
   */
  @Count({ max: 100_000 })
  maxRefusalsInDoubt = 100;
}

export class ConfirmationsConfig {
  /** What makes a transaction final: blocks on top, or a block tag that has reached its block. */
  @Choice(FINALITY_MODES)
  finality: FinalityMode = 'depth';

  /** Blocks on top that make a transaction final, with `depth`. */
  @Count({ min: 1, max: 100_000 })
  required = 20;

  /** Milliseconds after which a receipt is asked for again. */
  @Duration()
  staleReceiptTimeout = 60_000;

  @Count({ max: 1000 })
  receiptWorkers = 10;

  /** Ask for the receipt right after broadcasting: for chains whose blocks come at once. */
  @Flag()
  fetchReceiptUponEntry = false;

  /**
   * Blocks that are walked after a time without a look. A longer gap is jumped: what is in flight is asked for by hash, once, and
   * following goes on from the head.
   */
  @Count({ min: 1, max: 100_000 })
  blockQueueLength = 1_000;
}
