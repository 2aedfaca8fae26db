import { Choice, Count, Duration, Size } from '../config-fields.js';

export type ExecutionMode = 'basic' | 'worker-queue';
export type NotLeaderPolicy = 'accept' | 'forward' | 'reject';

export class ExecutionConfig {
  /** `basic`: the node that finds work takes the lease. `worker-queue`: each signer has a preferred node. Only speed differs. */
  @Choice(['basic', 'worker-queue'])
  mode: ExecutionMode = 'worker-queue';

  /** Transactions of one signer that have a nonce and are not mined yet. */
  @Count({ max: 100_000 })
  maxInFlight = 64;

  /**
   * Milliseconds for which a waiting transaction is retried when nodes refuse to estimate it because of its content; then it fails. It
   * never fails for lack of funds, high fees or nodes that do not answer.
   */
  @Duration()
  giveUpAfter = 3_600_000;

  /** Transactions of one signer in one lane step. */
  @Count({ max: 10_000 })
  batchSize = 256;
}

export class WorkerConfig {
  /** Workers of one node: lane steps that run concurrently. */
  @Count({ max: 1024 })
  concurrency = 4;

  /** Milliseconds between polls for work, which find work whose doorbell was lost. */
  @Duration()
  pollInterval = 500;
}

export class IntakeConfig {
  /** How a node that does not own the signer handles a request that the owner must answer. */
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
