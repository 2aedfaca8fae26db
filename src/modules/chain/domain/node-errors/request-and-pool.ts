import { whole } from '../node-error-text.js';
import type { Row } from './row.js';

/** Before the rows about size, pools and "another transaction with the same nonce": these are about the request or the node. */
export const REQUEST_ROWS: readonly Row[] = [
  { class: 'hash_mismatch', any: ['returned hash did not match', '(transaction|tx) hash mismatch'] },
  // Our own text for one call that an endpoint refuses with 413, followed by the text of the endpoint.
  { class: 'oversized_data', any: ['oversized data'] },
  {
    class: 'transient',
    any: [
      'number of requests exceeds|too many .{0,20}in (a |the )?batch',
      'batch (request )?(is |amount |size |limit )|batch too (large|big)|batch requests (are disabled|limit)',
      '(request|response|content|entity)( body| entity| length| data| size| payload)? (is )?too (large|big|long)',
      'payload too large|(request|response) size|not synced beyond',
      'result of length # exceeding',
      'pool (is )?(not (yet )?(enabled|available|ready|started)|disabled)',
      'insertion (of another transaction .* )?in progress',
      'worker pool',
      "was n't confirmed",
      'failed to (get|load|count|query|read|check) .{0,60}(to the pool|database|storage)',
    ],
  },
];

/** Errors about other transactions in the pool, and about its size. The order matters: each row contains words of later rows. */
export const POOL_ROWS: readonly Row[] = [
  {
    class: 'tx_type_conflict',
    any: [
      "(can't|cannot|can not) replace (a )?(non )?blob|blob tx replace",
      '(address |err )already reserved',
      'pending (tx|transaction)s? (of )?(other |conflicting )?type( conflict)?',
      'type # conflicts with existing|conflicting transaction type',
    ],
  },
  {
    class: 'delegated_account_limit',
    any: [
      'delegated accounts?|in flight (tx|transaction) limit|from delegated',
      'delegation (authority|nonce)|nonce for delegation',
      'delegator has pending',
      'authority (already )?reserved',
    ],
  },
  {
    class: 'account_limit',
    any: [
      'account limit exceeded',
      'identified as a spammer|spammer exceeded',
      'too many (pending|queued) .{0,30}\\b(from|for|per)\\b|queued transactions for account',
      '(account|sender) (has )?(reached|exceeded) .{0,10}(tx|transaction) limit',
      'enqueued transactions (limit )?reached|sender max txs',
      whole('spammer'),
    ],
  },
  {
    class: 'txpool_full',
    any: [
      'pool (is )?(full|overflow)',
      'queue (is )?full',
      'future (transaction tries to )?replace pending',
      'dropped due to|(exceeds?|discarded .{0,20}) pool size|low slots|discarded on insert',
      'too many transactions in the queue|global cap|transaction limit reached|fairness exceeding',
      'fee too low to compete|priority not high enough',
    ],
  },
  {
    class: 'replaced_by_other',
    any: [
      'replaced by (a |an |another )?(new |better )?(transaction|tx|higher)',
      'newer (transaction|tx) had higher priority',
    ],
  },
  {
    // Above `underpriced` and `nonce_too_low`: parity's text has "too low" and "nonce" in one message.
    class: 'replacement_underpriced',
    any: [
      'replace(ment)? .{0,40}underpriced|underpriced replacement|replacement (blob )?gas too low',
      '(another|existing) (transaction|tx) .{0,90}same nonce',
      "(could not|can't|cannot) replace (the |an )?(existing|transaction|tx)|price to replace",
      "(with|same|this) nonce # (is )?already|can't be replaced|replace by fee",
      '\\bto replace (it|the)|too low to replace|not enough to (bump|replace)',
      'replacement not allowed',
      'existing (transaction|tx) had higher priority',
      'toolowpriority',
      whole('not replaced'),
    ],
  },
  {
    class: 'already_known',
    any: [
      'already known|\\bknown (transaction|tx\\b)',
      'already imported',
      'existing (txn|tx|transaction) with (the )?same hash|same hash (was )?already',
      'already (exists? )?in (the )?(cache|mempool|pool|txpool|system)',
      '(txn|tx|transaction) already exists|already have (the |this )?(transaction|tx)',
      'duplicate (tx|transaction|hash)',
      'own nonce already used',
    ],
  },
  {
    class: 'already_mined',
    any: [whole('mined'), '(transaction|tx) (is |was |has been )?already (been )?(mined|finalized|included)'],
  },
];
