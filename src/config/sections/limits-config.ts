import { Limit, Section, SizeLimit } from '../config-fields.js';

/** What waits is counted in the database, and a count reads as many rows. */
export const MOST_WAITING_TXS = 100_000;

/** Of one account at all nodes together. An account can have limits of its own in place of these. */
export class AccountLimitsConfig {
  /** Each item of a batch counts as one. */
  @Limit()
  requestsPerSecond = Infinity;

  /** Of the bodies of requests. */
  @SizeLimit()
  bytesPerSecond = Infinity;

  /** Streams and long polls that are open. */
  @Limit()
  streams = Infinity;

  /** Transactions that have no nonce yet. */
  @Limit({ most: MOST_WAITING_TXS })
  waitingTxs = Infinity;

  @Limit()
  webhookEndpoints = Infinity;
}

/** Of one signer at all nodes together, whoever sends with it. */
export class SignerLimitsConfig {
  /** Requests to create or replace a transaction; repeated ones cost nothing. */
  @Limit()
  txsPerSecond = Infinity;

  /** Transactions that have no nonce yet. */
  @Limit({ most: MOST_WAITING_TXS })
  waitingTxs = Infinity;
}

/** No limit by default: the bounds of a node (`intake.maxQueued`, `maxWaiters`, `maxStreams`) hold in any case, and no account has another's place there. */
export class LimitsConfig {
  @Section(AccountLimitsConfig)
  account = new AccountLimitsConfig();

  @Section(SignerLimitsConfig)
  signer = new SignerLimitsConfig();
}
