import { type Hash, parseHash } from '../../../kernel/hex.js';
import { rlpBytes, rlpInteger, rlpList } from '../../../kernel/rlp.js';
import { fields, list, MalformedAnswer, quantity, smallNumber } from './parse-answer.js';
import { trieRoot } from './trie-root.js';

const BLOOM_BYTES = 256;
const ADDRESS_BYTES = 20;
const WORD_BYTES = 32;
/** Receipts of the types of Ethereum (legacy, 2930, 1559, 4844, 7702) have the same fields; receipts of rollup types have others. */
const HIGHEST_KNOWN_TYPE = 4;
/** The bloom of a transaction without logs. Most of ours have none, so it is encoded once. */
const EMPTY_BLOOM = `0x${'0'.repeat(2 * BLOOM_BYTES)}`;
const ENCODED_EMPTY_BLOOM = rlpBytes(Buffer.alloc(BLOOM_BYTES));

/**
 * Computes the `receiptsRoot` of a block header: the root of the trie of index and consensus encoding (EIP-2718; Yellow Paper, section
 * 4.3). Null when the answer is not enough: a field is missing or out of order, or the chain encodes receipts in another way.
 * @param receipts of one block, in order, as `eth_getBlockReceipts` has them
 */
export function receiptsRoot(receipts: readonly unknown[]): Hash | null {
  try {
    const root = trieRoot(receipts.map((receipt, index) => [rlpInteger(BigInt(index)), encoded(receipt, index)]));
    return parseHash(`0x${root.toString('hex')}`);
  } catch (error) {
    if (error instanceof MalformedAnswer) return null;
    throw error;
  }
}

function encoded(value: unknown, index: number): Buffer {
  const raw = fields(value, 'receipt');
  if (smallNumber(raw['transactionIndex'], 'receipt.transactionIndex') !== index)
    throw new MalformedAnswer('receipt.transactionIndex', 'its place in the block');
  const type = smallNumber(raw['type'], 'receipt.type');
  if (type > HIGHEST_KNOWN_TYPE) throw new MalformedAnswer('receipt.type', 'known');
  const payload = rlpList([
    rlpInteger(quantity(raw['status'], 'receipt.status')),
    rlpInteger(quantity(raw['cumulativeGasUsed'], 'receipt.cumulativeGasUsed')),
    bloom(raw['logsBloom']),
    rlpList(list(raw['logs'], 'receipt.logs').map(log)),
  ]);
  return type === 0 ? payload : Buffer.concat([Buffer.of(type), payload]);
}

function bloom(value: unknown): Buffer {
  return value === EMPTY_BLOOM ? ENCODED_EMPTY_BLOOM : bytes(value, 'receipt.logsBloom', BLOOM_BYTES);
}

function log(value: unknown): Buffer {
  const raw = fields(value, 'log');
  const topics = list(raw['topics'], 'log.topics').map((topic) => bytes(topic, 'log.topics[]', WORD_BYTES));
  return rlpList([
    bytes(raw['address'], 'log.address', ADDRESS_BYTES),
    rlpList(topics),
    bytes(raw['data'], 'log.data'),
  ]);
}

/** RLP-encodes hex bytes; of any length unless one is given. */
function bytes(value: unknown, field: string, length?: number): Buffer {
  if (typeof value !== 'string' || !value.startsWith('0x')) throw new MalformedAnswer(field, 'hex bytes');
  // `Buffer.from` stops at the first character that is not a hex digit, and at half a byte.
  const read = Buffer.from(value.slice(2), 'hex');
  if (read.length * 2 !== value.length - 2 || read.length !== (length ?? read.length))
    throw new MalformedAnswer(field, 'hex bytes of the right length');
  return rlpBytes(read);
}
