import { whole } from '../node-error-text.js';
import type { Row } from './row.js';

/** Bytes that no node of the chain accepts: a bug of ours, or a type or field that the chain does not support. */
export const INVALID_ROWS: readonly Row[] = [
  {
    class: 'invalid_transaction',
    any: [
      '(invalid|incomplete|incorrect) (transaction |tx |authority |ethereum |legacy |ecdsa )?(signature|public key)',
      'invalid sig($|\\W)|signature is invalid|invalid .{0,20}signature form|failed to validate signature',
      'y parity|signature s value|transaction v, r, s',
      '(invalid|malformed|deprecated|unsupported|undefined|unknown) (l2 |ethereum )?(transaction|tx)( in .{0,20})?( type| request| params| format)',
      'txinvalid',
      '(transaction|tx)s? .{0,15}type .{0,20}# (is |are )?(not |in)(yet )?(valid|supported|allowed)',
      'not supported (tx|transaction) type',
      '(tx|transaction)s? (are )?not allowed (yet|currently)|eip # transactions are disabled',
      'type (is )?not (activated|enabled)|fork supporting this|type detected before|with id # unknown',
      whole('((transaction|tx) )?(is )?(invalid|malformed)|invalid (ethereum )?(transaction|tx)'),
      'status invalid ethereum transaction|nonce byte length',
      'does not supported eip',
    ],
  },
  {
    class: 'invalid_transaction',
    any: [
      'typed transaction too short|empty transaction data|transaction data is empty|\\brlp\\b|decode rlp',
      '((failed|unable) to|could not|cannot) decode (the )?(signed |raw )?(transaction|tx)',
      '(decode transaction|transaction decoding) (failed|error)|tx parse error',
      'invalid (method )?(params?|parameters?|arguments?)\\b|missing value for required|too many arguments',
      'invalid (message|shard|fee input)|unknown \\w+ message kind|transaction hash is null|address is null',
    ],
  },
  {
    // Amounts that no field can hold. Only with the name of the amount: a node overflows too.
    class: 'invalid_transaction',
    any: [
      '(gas|cost|value|amount|payment|big int|u?int\\d*|integer) (computation )?(uint\\d* )?over flow',
      'overflow payment',
      '(value|cost) (cannot )?exceeds? (# bits|uint|2\\^)',
      'negative value|(cannot|can not) be negative|price negative',
      "value can't be non zero|limit must not be zero|data limit is zero",
      '(max fee|priority fee|gas price)( per gas)? missing|max integer',
    ],
  },
  {
    // Lists and fields of newer types.
    class: 'invalid_transaction',
    any: [
      'auth(orization)? (list|tuple)|no authorizations',
      'empty code delegation|code delegation list|must have a to address',
      'access lists? (are |is )?not supported|before (the )?berlin',
      'eip # ?(is )?not (supported|enabled|activated)|initcode transaction should',
      'not supported by the current hardfork|receiver\\) parameter is missing|deposit transaction|system tx',
      'cannot create contract|cannot be used to create',
      'set code tx create|which is not signed|does not match directive',
      'invalid to address|transaction is incomplete|field raw is empty|signature type not supported',
    ],
  },
  {
    class: 'invalid_transaction',
    any: [
      'marked the transaction as invalid|plugin tx validator|rip # transaction failed',
      'pay master (validation|params|preparation)|account validation error|failed to validate the transaction',
      'too many factory dep|factory dependency #|unregistered fee currency|fee currency not registered',
      'both "?(gas price|data)|contract creation without|precompile address|signature is enabled',
    ],
  },
];
