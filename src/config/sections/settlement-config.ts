import { Count, Duration, Flag } from '../config-fields.js';

export class ResubmitConfig {
  @Flag()
  enabled = true;

  /** Milliseconds after the last submission. */
  @Duration()
  interval = 60_000;
}

export class ConfirmationsConfig {
  /** Blocks on top that make a transaction final. */
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
}
