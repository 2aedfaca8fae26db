import type { NodeErrorClass } from '../../../kernel/node-error-class.js';
import { normalErrorText, whole } from './node-error-text.js';

/** What a node said, raw. `code` is the JSON-RPC error code, or an HTTP status. */
export interface NodeErrorFacts {
  readonly method: string;
  readonly message: string;
  readonly code?: number | undefined;
}

/** A chain's own wording, from its config. Case does not matter. */
export interface ErrorPattern {
  readonly pattern: RegExp;
  readonly class: NodeErrorClass;
}

interface Row {
  readonly class: NodeErrorClass;
  /** Matched against {@link normalErrorText}: lower case, single spaces, `_` is a space. */
  readonly any: readonly RegExp[];
  /** When given, only answers to these methods; never the only criterion. */
  readonly methods?: readonly string[];
  /** When given, only with these codes; never the only criterion: the same code means different things per client. */
  readonly codes?: readonly number[];
}

const SIMULATIONS = ['eth_estimateGas', 'eth_call'];

/** Before everything else: the text of a revert is chosen by a contract and may quote any other row. */
const REVERTS: readonly Row[] = [
  {
    class: 'execution_reverted',
    any: [
      /execution (was |has )?reverted/,
      /(transaction|call|contract|message call) (was |has )?reverted/,
      /reverted with (a |an )?(reason|custom error|panic|unrecognized|unknown)/,
      /vm exception while processing transaction/,
      /vm execution error/,
      whole('reverted'),
    ],
  },
  {
    // A payload that cannot execute at all; sent as a transaction, the same words would be about the node.
    class: 'execution_reverted',
    methods: SIMULATIONS,
    any: [
      /\brevert(ed)?\b/,
      /\bevm error\b/,
      /invalid opcode/,
      /invalid jump destination/,
      /stack (under|over)flow/,
      /write protection/,
    ],
  },
  { class: 'execution_reverted', methods: SIMULATIONS, codes: [3], any: [/./] },
];

/** In order: the first row that matches wins, so what quotes or contains another row's words stands above it. */
const TABLE: readonly Row[] = [
  { class: 'hash_mismatch', any: [/returned hash did not match/, /(transaction|tx) hash mismatch/] },
  {
    // Above rows about size, pools and "another transaction with the same nonce": these are about the request or the node.
    class: 'transient',
    any: [
      /number of requests exceeds/,
      /batch (is )?too (large|big)|batch size/,
      /response (is )?too (large|big)/,
      /pool (is )?not (enabled|available|ready)/,
      /insertion of another transaction .* in progress/,
    ],
  },
  {
    class: 'tx_type_conflict',
    any: [
      /(can't|cannot|can not) replace (a )?(non-)?blob/,
      /address already reserved/,
      /pending ?txs ?of ?other ?type/,
    ],
  },
  {
    class: 'delegated_account_limit',
    any: [
      /delegated accounts?/,
      /delegation (authority|nonce)/,
      /delegator ?has ?pending/,
      /authority already reserved/,
    ],
  },
  {
    class: 'account_limit',
    any: [/account limit exceeded/, /identified as a spammer/, /too many (pending|queued) transactions (from|for)/],
  },
  {
    // Above the replacement and blob rows, whose words it uses.
    class: 'txpool_full',
    any: [
      /pool (is )?full/,
      /queue (is )?full/,
      /future transaction tries to replace pending/,
      /dropped due to/,
      /too many transactions in the queue/,
      /fee ?too ?low ?to ?compete/,
    ],
  },
  { class: 'replaced_by_other', any: [/replaced by (a |an |another )?(new )?(transaction|tx)/] },
  {
    // Above `underpriced` and `nonce_too_low`: parity's text has "too low" and "nonce" in one message.
    class: 'replacement_underpriced',
    any: [
      /replacement .{0,40}underpriced|underpriced replacement/,
      /(another|existing) (transaction|tx) .{0,20}same nonce/,
      /(could not|can't|cannot) replace (the |an )?(existing|transaction|tx)/,
      /replacement ?not ?allowed/,
      /toolowpriority/,
    ],
  },
  {
    class: 'already_known',
    any: [
      /already ?known|\bknown transaction/,
      /already ?imported/,
      /existing (txn|tx|transaction) with (the )?same hash/,
      /already (exists? )?in (the )?(cache|mempool|pool|txpool|system)/,
      /own ?nonce ?already ?used/,
    ],
  },
  {
    class: 'already_mined',
    any: [whole('mined'), /(transaction|tx) (is |was |has been )?already (been )?(mined|finalized|included)/],
  },
  {
    // An allowance of eight digits is a block's or a node's gas cap; less than that is what the balance can pay for.
    class: 'gas_limit_exceeds_block',
    any: [/gas required exceeds allowance\D{0,4}\d{8,}/],
  },
  {
    // Above `invalid_transaction`: scroll says "invalid transaction: insufficient funds for l1fee".
    class: 'insufficient_funds',
    any: [
      /insufficient ?(funds|balance|payer balance|eth\b)/,
      /(exceeds|than) (the |sender |account )*balance/,
      /not enough (funds|balance)|(doesn't|does not) have enough (funds|balance)|lack of funds/,
      /failed to pay the fee/,
      /gas required exceeds allowance/,
    ],
  },
  {
    // Above the rows about fees: same words, other gas.
    class: 'blob_fee_cap_too_low',
    any: [
      /max fee per blob gas .{0,20}(less|lower|below|too low)/,
      /blob gas ?(price|fee) .{0,20}(less|lower|below|too low)/,
      /blob fee cap .{0,40}minimum/,
    ],
  },
  {
    class: 'blob_error',
    any: [
      /\bkzg\b/,
      /\bsidecar/,
      /blob transaction/,
      /(total )?blob gas too high/,
      /(too many|no|missing|unequal|invalid) blobs?\b/,
      /blob hash/,
    ],
  },
  { class: 'fee_overflow', any: [/higher than 2\^\d+/, /(fee|price|tip) .{0,20}overflow/] },
  {
    class: 'tip_above_fee_cap',
    any: [
      /(priority fee|tip)( per gas)? .{0,20}(exceeds|higher|greater|above).{0,10}(max fee|fee cap)/,
      /max fee per gas higher than max priority/,
      /invalid gas fee cap/,
    ],
  },
  {
    // The next block's base fee is above what we offer: above `underpriced`, which is about a pool's own minimum.
    class: 'fee_cap_too_low',
    any: [
      /(max ?fee ?per ?gas|gas ?price|fee ?cap) .{0,60}(less|lower|below|too low).{0,40}base ?fee/,
      /unacceptable gas price/,
    ],
  },
  {
    class: 'node_fee_cap_exceeded',
    any: [/exceeds the configured cap/, /fee cap exceeded/, /gas price too high/],
  },
  { class: 'nonce_max_value', any: [/nonce has max(imum)? value/, /nonce .{0,20}overflow/] },
  {
    class: 'nonce_too_high',
    any: [
      /nonce (is |was )?too (high|distant|far|big)/,
      /nonce ?too ?far ?in ?future/,
      /nonce (is )?too distant/,
      /cyclic transaction/,
      /nonce gap/,
    ],
  },
  {
    // Includes wordings that do not say in which direction the nonce is wrong: asking for receipts is right for both.
    class: 'nonce_too_low',
    any: [
      /nonce (is |was )?too (low|small)/,
      /\bold ?nonce/,
      /(invalid|incorrect|wrong) (transaction |account |tx )?(nonce|sequence)/,
      /(doesn't|does not) have the correct nonce/,
      /account sequence mismatch/,
      /nonce (has )?(already been used|already used|expired)/,
      /pool\(stale\)/,
    ],
  },
  {
    class: 'underpriced',
    any: [
      /\bunderpriced/,
      /gas ?price (is )?(too low|less than|below|lower than)/,
      /gas price is \S+ which is below/,
      /\bfee ?too ?low|insufficient fees?\b/,
      /(gas tip|tip cap|priority ?fee( ?per ?gas)?) .{0,20}(too low|below|less than|lower than)/,
    ],
  },
  {
    // Above the block gas limit: "intrinsic gas exceeds gas limit".
    class: 'intrinsic_gas_too_low',
    any: [
      /intrinsic ?gas/,
      /floor (data )?gas|gas floor/,
      /requires at least \S+ gas/,
      /gas is too low|not enough gas to cover/,
      /call gas cost .{0,20}exceeds/,
      /gas limit (is )?too low/,
    ],
  },
  {
    class: 'gas_limit_exceeds_block',
    any: [
      /exceeds .{0,20}(block gas limit|current gas limit|gas cap)/,
      /gas ?limit ?(cap )?(is )?(exceeded|reached|too high)/,
      /(supplied )?gas is beyond limit/,
    ],
  },
  {
    // Hardhat's estimator; of a transaction that was sent, the same words would be about its execution.
    class: 'gas_limit_exceeds_block',
    methods: SIMULATIONS,
    any: [/\bout of gas\b/],
  },
  {
    class: 'oversized_data',
    any: [
      /oversized data/,
      /(tx|txn|transaction)( is| size)? too (large|big)/,
      /max ?tx ?size ?exceeded/,
      /(init|code) ?(code )?size .{0,20}exceed|max (init)?code size/,
      /rlp (is )?too long/,
    ],
  },
  {
    // Above `invalid_sender`: geth says "invalid sender: invalid chain id for signer".
    class: 'invalid_chain_id',
    any: [
      /(invalid|incorrect|wrong|mismatched) chain ?id/,
      /chain ?id (is )?(not supported|mismatch|does not match)/,
      /signed for another chain|incompatible eip-155/,
      /replay[- ]protected/,
    ],
  },
  {
    class: 'sender_not_eoa',
    any: [/sender (is )?not an eoa/, /sender ?is ?(a )?contract/, /senders? with deployed code/, /from a non-eoa/],
  },
  { class: 'invalid_sender', any: [/invalid sender/, /failed ?to ?(recover|resolve) ?(the )?sender/] },
  {
    class: 'blocked_sender',
    any: [
      /black ?list|block ?list|deny ?list|sanctioned/,
      /not (in|on) the (allow|white) ?list|not (white|allow) ?listed/,
      /\bis banned\b/,
      /transaction is not permitted|not authorized to send|forbidden sender/,
      /filtered address/,
    ],
  },
  { class: 'terminally_stuck', any: [/out of counters/, /not enough \w+ counters/] },
  {
    class: 'rate_limited',
    any: [
      /rate[- ]?limit|too many requests/,
      /request (limit|count|rate) (is )?(reached|exceeded)|request rate/,
      /(rps|requests?) (per second )?limit/,
      /compute units|capacity exceeded|quota/,
    ],
  },
  { class: 'rate_limited', any: [/limit exceeded/], codes: [-32005, 429] },
  {
    class: 'method_unsupported',
    any: [
      /method not (found|supported|available|allowed)/,
      /(the )?method [\w.]+( \w+)? (does not exist|is not (available|supported|found|allowed|whitelisted))/,
      /(unknown|unsupported) (rpc )?method/,
    ],
  },
  {
    class: 'invalid_transaction',
    any: [
      /invalid signature|invalid transaction (type|v, r, s)|transaction type not supported|unsupported (transaction|tx) ?type/,
      /typed transaction too short|empty transaction data|failed to decode|invalid rlp|\brlp: /,
      /negative value|empty auth(orization)? list|int256 ?overflow|(cost|uint64|payment) overflow|overflow payment/,
      /invalid message format|invalid shard|transaction hash is null|marked the transaction as invalid/,
      /paymaster validation|failed to validate the transaction/,
      whole('invalid'),
    ],
  },
  {
    // Below every row that such a text may wrap: "failed to forward tx to sequencer, please try again: 'already known'".
    class: 'transient',
    any: [
      /time(d)? ?-?out|deadline exceeded/,
      /\be(conn\w+|notfound|timedout|pipe|hostunreach|netunreach|ai again)\b|\bund err\b|socket hang up|fetch failed/,
      /connection (was |is )?(reset|refused|closed|aborted|terminated)|other side closed|broken pipe|unexpected eof/,
      /network is unreachable|no route to host|no such host/,
      /\b50[234]\b|service (temporarily )?unavailable|bad gateway|temporarily/,
      /try again|overloaded|shutting down|missing response/,
      /sync is (still )?in progress|still syncing|indexing is in progress|header not found|missing trie node/,
      /failed to (publish|forward|include) /,
      /database error/,
    ],
  },
  {
    class: 'ambiguous_internal',
    any: [/internal (json-?rpc |server )?error/, /unexpected error|something went wrong/],
  },
];

/**
 * The class of a node's error, by its text. A chain's own patterns come right after the revert test; no match is
 * `unknown`, which is not a failure but "maybe sent" (I6).
 */
export function classifyNodeError(
  error: NodeErrorFacts & { readonly extraPatterns?: readonly ErrorPattern[] },
): NodeErrorClass {
  const text = normalErrorText(error.message);
  const matches = (row: Row) =>
    (row.methods?.includes(error.method) ?? true) &&
    (row.codes === undefined || (error.code !== undefined && row.codes.includes(error.code))) &&
    row.any.some((pattern) => pattern.test(text));
  return (
    REVERTS.find(matches)?.class ??
    error.extraPatterns?.find(({ pattern }) => pattern.test(error.message) || pattern.test(text))?.class ??
    TABLE.find(matches)?.class ??
    'unknown'
  );
}

/** A pattern from config: any case. Without `g`, so that it keeps no position between two tests. */
export function errorPattern(pattern: string, errorClass: NodeErrorClass): ErrorPattern {
  return { pattern: new RegExp(pattern, 'i'), class: errorClass };
}
