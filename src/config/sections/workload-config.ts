import { Choice, Count, Duration, Size } from '../config-fields.js';

export type ExecutionMode = 'basic' | 'worker-queue';
export type NotLeaderPolicy = 'accept' | 'forward' | 'reject';

export class ExecutionConfig {
  /** `basic`: whoever finds work takes the lease. `worker-queue`: each signer has a preferred node. Only speed differs. */
  @Choice(['basic', 'worker-queue'])
  mode: ExecutionMode = 'worker-queue';

  /** Transactions of one signer between allocation and their block. */
  @Count({ max: 100_000 })
  maxInFlight = 64;

  /**
   * Milliseconds: a waiting transaction that the nodes refuse to estimate, for a reason of its own, fails after it was tried
   * again for so long. Lack of funds, high fees and nodes that do not answer end nothing.
   */
  @Duration()
  giveUpAfter = 3_600_000;

  /** Transactions one lane step takes at once. */
  @Count({ max: 10_000 })
  batchSize = 256;
}

export class WorkerConfig {
  /** Signers that move side by side on one node. */
  @Count({ max: 1024 })
  concurrency = 4;

  /** Milliseconds: the safety net below notifications. */
  @Duration()
  pollInterval = 500;
}

export class IntakeConfig {
  /** What a node does with a request that needs the owner of the signer at once, and is not the owner. */
  @Choice(['accept', 'forward', 'reject'])
  notLeader: NotLeaderPolicy = 'accept';

  /** Requests waiting in memory for their insert; above it a node answers 503. */
  @Count()
  maxQueued = 10_000;

  /** Bytes of the requests that wait in memory until they are stored; above it a node answers 503. */
  @Size()
  maxQueuedBytes = 64 * 1024 * 1024;

  /** Bytes of the metadata of one request, as JSON. */
  @Size()
  maxMetadataBytes = 16 * 1024;

  /** Requests in one insert. */
  @Count({ max: 10_000 })
  batchSize = 500;
}
