import { Choice, Count, Duration, Section } from '../config-fields.js';

/** All values are milliseconds. */
export class LeaseConfig {
  @Duration()
  duration = 10_000;

  /** Below half of `duration`, so that one lost renewal does not lose the lease. */
  @Duration()
  renewInterval = 3_000;

  /** Time after its expiry in which a lease of another node is not taken over. */
  @Duration({ min: 0 })
  clockSkewAllowance = 1_000;
}

export type ExecutionMode = 'basic' | 'worker-queue';
export type NotLeaderPolicy = 'accept' | 'forward' | 'reject';

export class ExecutionConfig {
  /** `basic`: the node that finds work takes the lease. `worker-queue`: each signer has a preferred node. Only speed differs. */
  @Choice(['basic', 'worker-queue'])
  mode: ExecutionMode = 'worker-queue';

  /** The most transactions of one signer that have a nonce and are not mined yet. How many it is at a time is learnt. */
  @Count({ max: 100_000 })
  maxInFlight = 1_000;

  /** What a signer begins with, on every chain. Without it: what the profile of the chain says, or 64; see `chainInForce`. */
  @Count({ max: 100_000 })
  inFlightStart?: number;

  /**
   * Of all signers of a chain at this node together, below geth's `globalslots` of 5,120. No key: it only shares out what signers grow to, and none is
   * kept below what it begins with for it.
   */
  readonly maxInFlightOfChain: number = 4_000;

  /**
   * Milliseconds for which a waiting transaction is retried when nodes refuse to estimate it because of its content; then it fails. It
   * never fails for lack of funds, high fees or nodes that do not answer. No key: a request has `expiresAt` for less.
   */
  readonly giveUpAfter: number = 3_600_000;

  /** Transactions of one signer in one lane step. No key: the time of a step hardly depends on it, `maxInFlight` limits a signer before it. */
  readonly batchSize: number = 256;
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

  /** Bytes of the metadata of one request, as JSON. No key: it is part of the API, and each page of a list reads it. */
  readonly maxMetadataBytes: number = 16 * 1024;

  /** Bytes of the requests that wait in memory until they are stored; above it a node answers 503. No key: it bounds memory. */
  readonly maxQueuedBytes: number = 64 * 1024 * 1024;

  /** Requests in one insert. No key: far more than arrive while two inserts are under way. */
  readonly batchSize: number = 500;
}

export type NonceQueryMode = 'latest' | 'pending';

export class NonceChainQueryConfig {
  /** `latest`, because load-balanced RPCs report a stale `pending`; `pending` is for accounts that others also send from. */
  @Choice(['latest', 'pending'])
  mode: NonceQueryMode = 'latest';
}

export class NonceConfig {
  @Section(NonceChainQueryConfig)
  chainQuery = new NonceChainQueryConfig();

  /** Milliseconds until the cursor is aligned with the chain again. */
  @Duration()
  nonceStateTimeout = 30_000;

  /**
   * Milliseconds without an unknown transaction in any pool before a signer continues for which no endpoint returns its whole pool. No key:
   * it only counts after lost commits.
   */
  readonly poolQuietTime: number = 30_000;
}
