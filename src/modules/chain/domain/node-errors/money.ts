import type { Row } from './row.js';

const LESS = '(less|lower|below|smaller|under)';
const MORE = '(exceeds?|exceeded|greater|higher|above|more|bigger|larger)';

/** Errors about the sender's funds. Before `invalid transaction`: scroll says "invalid transaction: insufficient funds for l1fee". */
export const FUNDS_ROWS: readonly Row[] = [
  {
    // An allowance of eight digits is a block's or a node's gas cap; less than that is what the balance can pay for.
    class: 'gas_limit_exceeds_block',
    any: [/gas required exceeds allowance\D{0,4}\d{8,}/],
  },
  {
    class: 'insufficient_funds',
    any: [
      'insufficient (funds|energy|eth\\b|((payer|account|sender|user) )*balance|fee token balance)',
      'insufficient max fee per gas for .{0,15}balance',
      '(exceeds|than|out of) (the |transaction )?(sender |account )*balance',
      '> balance|balance (is )?(too low|zero)|balance <',
      "(not? enough( \\w+)?|(doesn't|does not) have enough) (funds|balance|cash|money)",
      '(lack|out) of funds?\\b|lackoffund|overdraft|overdraws',
      // Some chains have no account before its first deposit.
      "sender account # (doesn't|does not|is not|not) (exist|found)",
      'deduct .{0,70}(balance|costs? from)',
      'failed to (pay|charge) (the |for )*(fee|transaction)',
      'gas required exceeds allowance',
      'invalid transaction::payment',
    ],
  },
];

export const BLOB_ROWS: readonly Row[] = [
  { class: 'fee_overflow', any: ['fee cap exceeds # bits', '(tip|fee cap) very high'] },
  { class: 'nonce_too_high', any: ['4844 nonce gap'] },
  {
    // Before the rows about fees: the same words about blob gas.
    class: 'blob_fee_cap_too_low',
    any: [
      `fee per blob gas .{0,20}(${LESS}|too low)`,
      `blob gas (price|fee) #.{0,20}(${LESS}|${MORE}|too low)`,
      'blob fee cap (.{0,40}minimum|too low)',
    ],
  },
  {
    // Other texts with the word are about the content of a blob transaction; "excess blob gas" and the
    // blob base fee are fields of a header, stores and pools are the node's.
    class: 'blob_error',
    any: [
      /(?<!excess[- ]?)blob(?![- ]?(base|store|pool|db))/,
      'kzg',
      // Not the proxies that run beside a node.
      'side car(?!.{0,20}(proxy|unavailable|ready))',
      'eip 4844',
      '(proof version|versioned hash)',
      '# proofs compared to|cell proof',
    ],
  },
];

export const FEE_ROWS: readonly Row[] = [
  { class: 'fee_overflow', any: [/higher than 2\^\d+/, '(fee|price|tip) .{0,20}overflow'] },
  {
    // Klaytn's rules, above the words "invalid gas fee cap" that it also uses for a tip above the cap.
    class: 'fee_cap_too_low',
    any: [
      `${MORE} than or equal to (the )?base fee`,
      `must be ${MORE} than (the )?base fee|cannot pay (the )?base fee`,
    ],
  },
  { class: 'underpriced', any: ['same value as gas unit price', 'invalid unit price'] },
  {
    class: 'tip_above_fee_cap',
    any: [
      `(priority fee|\\btip)( cap)?( per gas)? .{0,25}${MORE}.{0,10}(max fee|fee cap)`,
      `max fee (per gas )?(is )?(higher than|${LESS} than|# <) max priority`,
      `invalid gas fee cap|tip above fee cap|priority fee (too high|greater)`,
    ],
  },
  {
    // The base fee of the next block is higher than our offer. Before `underpriced`, which is about the minimum of a pool.
    class: 'fee_cap_too_low',
    any: [
      `(max fee|gas price|fee cap) .{0,60}(${LESS}|too low).{0,60}base fee`,
      'base fee lower bound|(max fee per gas|fee cap) too low',
      `base fee (is )?${MORE} than (the )?(max fee|fee cap|gas price)`,
      'unacceptable gas price|miner premium is negative',
    ],
  },
  {
    class: 'node_fee_cap_exceeded',
    any: [
      'exceeds the configured cap',
      'fee cap exceeded|exceeds fee cap|fee exceeds (the )?cap',
      'gas price (too high|exceeds (the )?cap)',
    ],
  },
];

/** After the rows about nonces, whose messages may contain a price. */
export const PRICE_ROWS: readonly Row[] = [
  {
    class: 'underpriced',
    any: [
      'under priced',
      `(gas|transaction|tx) prices? # (is |are )?(too low|${LESS})`,
      `below .{0,10}gas price|insufficient gas price|sufficient min price`,
      'gas price is \\S+ which is below',
      'fee (cap )?# (is )?(too low|below)|insufficient (tx |transaction )?fees?\\b',
      `(gas tip|tip cap|priority fee( per gas)?) .{0,20}(too low|${LESS})`,
      '(price|fee per gas) must be (non zero|positive)|(under min|zero) gas price',
      'price limit too? low|unprofitable',
    ],
  },
];
