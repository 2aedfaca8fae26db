import { Retention } from '../config-fields.js';

export class TransactionsConfig {
  /** Milliseconds that finished transactions are kept, with all that belongs to them; infinite when they are kept for ever. */
  @Retention({
    min: 86_400_000,
    words: 'must be at least 1d: a deep reorg may still open a finished transaction again',
  })
  retention = Infinity;
}
