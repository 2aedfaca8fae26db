export type MetricType = 'counter' | 'gauge' | 'histogram';

interface Metric<Type extends MetricType, Label extends string> {
  readonly type: Type;
  readonly help: string;
  readonly labels: readonly Label[];
  /** Upper bounds of a histogram, in seconds. */
  readonly buckets?: number[];
}

const SHORT = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * All metrics of this service. Those of `broker_` are shown only where a broker is configured, and the label `signer` only where signers
 * are labels (`metrics.signerLabels`); without it the values are those of a chain.
 */
export const METRICS = {
  auth_refused_total: counter('Requests that were refused because of who sent them', 'reason'),
  limited_total: counter('Requests, and items of batches, that were refused because of a limit', 'limit'),
  tx_create_total: counter('Requests to create a transaction', 'result'),
  tx_submit_total: counter('Broadcasts by result', 'result'),
  tx_state_total: counter('Transactions that entered a state', 'state'),
  resubmit_total: counter('Attempts sent again', 'kind'),
  policy_refused_total: counter(
    'Requests and transactions that a policy refused, or would refuse in a dry run',
    'rule',
    'mode',
  ),
  policy_held_total: counter('Times that daily amounts made a transaction wait, or would in a dry run', 'rule', 'mode'),
  custody_seconds: histogram('Time until a custody had signed what a lane asked for', SHORT, 'custody'),
  custody_signatures_total: counter('Signatures that a custody gave', 'custody'),
  custody_errors_total: counter(
    'Times that a custody gave no usable signatures: error, timeout, overdue (it owes an answer, and was not asked) or wrong_key',
    'custody',
    'reason',
  ),
  tx_fee_capped_total: counter('Transactions that began to wait because a higher price would be above the fee caps'),
  worker_queue_latency_seconds: histogram(
    'Seconds from a doorbell ring or a poll to the start of the lane step',
    SHORT,
  ),
  worker_queue_depth: gauge('Lane tasks waiting or running', 'chain'),
  receipt_check_total: counter('Receipts requested by transaction hash', 'result'),
  confirmations_newFork_total: counter('Transactions whose block was orphaned by a reorg'),
  lease_acquire_total: counter('Leases that this node tried to take', 'result'),
  lease_renew_total: counter('Renewals of leases that this node held', 'result'),
  lease_fenced_total: counter('Critical writes refused because the lease was lost', 'op'),
  lease_held: gauge('Leases that this node holds'),
  db_commit_seconds: histogram('Duration of fenced transactions', SHORT, 'op'),
  database_lost_commits_total: counter('Times that the database may have lost commits', 'evidence'),
  nonce_recovered_total: counter('Transactions that a signer had sent and the database did not know', 'kind'),
  signers_chain_behind: gauge(
    'Signers that send nothing because their chain was reset, or says that fewer nonces are used than were seen final',
    'chain',
    'cause',
  ),
  signers_held: gauge('Signers that send nothing until all transactions they had sent are known'),
  signer_balance_wei: gauge('Balance of each signer of this node that has work', 'chain', 'signer'),
  signer_balance_missing_wei: gauge(
    'What the balance of each signer of this node lacks for its transactions in flight and in the queue',
    'chain',
    'signer',
  ),
  signer_backlog: gauge(
    'Transactions that wait for a nonce or a block, counted up to 100,000 divided by the number of signers, or 1,000, of each kind',
    'chain',
    'signer',
  ),
  signer_nonce: gauge('Nonce cursor', 'chain', 'signer', 'kind'),
  signer_in_flight_limit: gauge(
    'Transactions of a signer that may be in flight now, as learnt from blocks and pools; the lowest of a chain where signers are no labels',
    'chain',
    'signer',
  ),
  signer_scrape_age_seconds: gauge('Age of the values of the signer metrics; infinite before the first read'),
  signer_scrape_errors_total: counter('Failed reads of the signers; their metrics keep the last values'),
  rpc_requests_total: counter(
    'JSON-RPC calls, by result: ok, error (the node answered an error), or why there was no answer',
    'chain',
    'method',
    'result',
  ),
  rpc_node_errors_total: counter(
    'Errors that nodes answered to sends and simulations, by class; "unknown" needs a row in the table',
    'chain',
    'method',
    'class',
  ),
  rpc_seconds: histogram(
    'Time until an endpoint answered or failed',
    [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    'chain',
    'method',
  ),
  rpc_endpoint_up: gauge(
    '1 while the endpoint is in use, 0 while it fails, lags, is far ahead, serves another chain or was never reached',
    'chain',
    'endpoint',
  ),
  rpc_endpoint_lag_blocks: gauge(
    'Blocks behind the best head of the endpoints of its chain, where there are several; negative for an endpoint that is ahead of it',
    'chain',
    'endpoint',
  ),
  event_readers_held_back_seconds: gauge(
    'Age of the oldest event that is committed and cannot be read yet, because an older database transaction is open',
  ),
  event_streams: gauge('Open streams of events'),
  event_streams_cut_total: counter('Streams of events that were closed because their client was too slow'),
  retention_deleted_rows_total: counter(
    'Rows that this node deleted because they were older than the retention',
    'table',
  ),
  events_oldest_age_seconds: gauge('Age of the oldest event that is kept, as of the last run of the retention'),
  webhook_deliveries_total: counter(
    'Posts to webhook endpoints whose result this node stored: delivered, failed (to be tried again) or dead',
    'endpoint',
    'outcome',
  ),
  webhook_seconds: histogram(
    'From the start of a post to a webhook endpoint to the end of its answer',
    [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
  ),
  webhook_backlog: gauge(
    'Deliveries that wait, counted up to 100,000 divided by the number of endpoints, or 1,000',
    'endpoint',
  ),
  webhook_oldest_seconds: gauge('Age of the oldest event that waits for delivery', 'endpoint'),
  webhook_failing: gauge('1 while no delivery has succeeded since the last failure', 'endpoint'),
  broker_events_total: counter(
    'Events that the broker acknowledged: stored, or dropped by it because it had them already',
    'result',
  ),
  broker_failures_total: counter('Tries to publish that the broker did not take', 'code'),
  broker_connected: gauge('1 while this node is connected to the broker; one node needs to be'),
  broker_lag_events: gauge('Rows of the event log that are not published yet, about; the same on all nodes'),
  broker_behind_seconds: gauge('Age of the oldest of them; the same on all nodes'),
} as const;

function counter<Label extends string = never>(help: string, ...labels: Label[]): Metric<'counter', Label> {
  return { type: 'counter', help, labels };
}

function gauge<Label extends string = never>(help: string, ...labels: Label[]): Metric<'gauge', Label> {
  return { type: 'gauge', help, labels };
}

function histogram<Label extends string = never>(
  help: string,
  buckets: number[],
  ...labels: Label[]
): Metric<'histogram', Label> {
  return { type: 'histogram', help, labels, buckets };
}
