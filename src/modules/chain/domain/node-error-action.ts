import type { NodeErrorClass } from '../../../kernel/node-error-class.js';

/**
 * What a lane does with the attempt. The nonce stays bound in every case: a slot is released only when all of its attempts were
 * refused for good, which a single answer cannot decide.
 */
export type NodeErrorResponse =
  /** In a pool: wait for the receipt. */
  | 'track'
  /** A tx of ours or a foreign tx used the nonce: read the receipts of all attempts and the nonce of the account first. */
  | 'check_receipts'
  /** Same bytes again, with back-off. */
  | 'retry_same_bytes'
  /** Refused by the policy of this node; another node may accept it. Same bytes, other endpoints. */
  | 'try_other_endpoints'
  /** Sign again at the same nonce with current fees. */
  | 'reprice'
  /** A lower nonce is missing in the pool: resend the lowest unmined nonce, then this one. */
  | 'fill_gap'
  /** Same bytes again when the account has funds; never bump. */
  | 'wait_for_funds'
  /** Fewer transactions in flight for this signer, then the same bytes. */
  | 'limit_in_flight'
  /** Will never be accepted: the tx is FAILED and its nonce filled. */
  | 'fail_payload'
  | 'stop_signer'
  | 'stop_chain';

export interface NodeErrorAction {
  /** Whether this node may have the transaction after such an answer. Ambiguous answers are `unknown` (docs/invariants.md, I6). */
  readonly outcome: 'accepted' | 'rejected' | 'unknown';
  readonly response: NodeErrorResponse;
  /** An operator must act: a bug of ours, a wrong config, or the policy of a node. */
  readonly alert: boolean;
}

const accepted = (response: NodeErrorResponse): NodeErrorAction => ({ outcome: 'accepted', response, alert: false });
const unknown = (response: NodeErrorResponse, alert = false): NodeErrorAction => ({
  outcome: 'unknown',
  response,
  alert,
});
const rejected = (response: NodeErrorResponse, alert = false): NodeErrorAction => ({
  outcome: 'rejected',
  response,
  alert,
});

/** It has every class, so a new class does not compile without an action. */
export const ACTION = {
  already_known: accepted('track'),
  already_mined: accepted('check_receipts'),

  // The node rejected it, but another transaction has the nonce, most likely an attempt of ours.
  nonce_too_low: unknown('check_receipts'),
  replaced_by_other: unknown('check_receipts'),
  replacement_underpriced: unknown('check_receipts'),
  tx_type_conflict: unknown('retry_same_bytes'),

  underpriced: rejected('reprice'),
  fee_cap_too_low: rejected('reprice'),
  blob_fee_cap_too_low: rejected('reprice'),
  tip_above_fee_cap: rejected('reprice', true),
  fee_overflow: rejected('reprice', true),
  txpool_full: rejected('retry_same_bytes'),

  nonce_too_high: rejected('fill_gap'),
  insufficient_funds: rejected('wait_for_funds'),
  delegated_account_limit: rejected('limit_in_flight'),
  account_limit: rejected('limit_in_flight'),

  intrinsic_gas_too_low: rejected('fail_payload'),
  gas_limit_exceeds_block: rejected('fail_payload'),
  oversized_data: rejected('fail_payload'),
  execution_reverted: rejected('fail_payload'),
  blob_error: rejected('fail_payload'),
  invalid_transaction: rejected('fail_payload', true),
  terminally_stuck: rejected('fail_payload', true),

  invalid_sender: rejected('stop_signer', true),
  sender_not_eoa: rejected('stop_signer', true),
  nonce_max_value: rejected('stop_signer', true),
  invalid_chain_id: rejected('stop_chain', true),

  node_fee_cap_exceeded: rejected('try_other_endpoints', true),
  blocked_sender: rejected('try_other_endpoints', true),
  method_unsupported: rejected('try_other_endpoints', true),

  // A proxy that answers 429 or times out may have forwarded the transaction.
  rate_limited: unknown('retry_same_bytes'),
  transient: unknown('retry_same_bytes'),
  ambiguous_internal: unknown('retry_same_bytes'),
  hash_mismatch: unknown('retry_same_bytes', true),
  unknown: unknown('retry_same_bytes', true),
} as const satisfies Record<NodeErrorClass, NodeErrorAction>;

/** The action for a class that is known only at run time. */
export function actionOf(errorClass: NodeErrorClass): NodeErrorAction {
  return ACTION[errorClass];
}
