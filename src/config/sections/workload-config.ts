import { Count, Duration } from '../config-fields.js';

export class ExecutionConfig {
  /** Transactions of one signer between allocation and their block. */
  @Count({ max: 100_000 })
  maxInFlight = 64;

  /** Transactions one lane step takes at once. */
  @Count({ max: 10_000 })
  batchSize = 256;
}

export class WorkerConfig {
  /** Signers that move side by side on one node. */
  @Count({ max: 1024 })
  concurrency = 8;

  /** Milliseconds: the safety net below notifications. */
  @Duration()
  pollInterval = 1_000;
}

export class IntakeConfig {
  /** Requests waiting in memory for their insert; above it a node answers 503. */
  @Count()
  maxQueued = 10_000;

  /** Requests in one insert. */
  @Count({ max: 10_000 })
  batchSize = 500;
}
