/*
 * RLP (Ethereum Yellow Paper, appendix B), for the shapes transactions and receipts have. ethers encodes by way of hex strings, and
 * that was the largest single cost of a transaction in this process: 0.65 ms against 0.03 ms (docs/performance.md).
 */

const LONGEST_SHORT = 55;
/** RLP itself has no bound; every number of a transaction or receipt is at most 256 bits. */
const LONGEST_INTEGER = 32;

/** @throws RangeError when negative or above 256 bits */
export function rlpInteger(value: bigint): Buffer {
  if (value < 0n) throw new RangeError('negative numbers cannot be encoded');
  const hex = value === 0n ? '' : value.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  if (bytes.length > LONGEST_INTEGER) throw new RangeError('a number above 256 bits cannot be encoded');
  return rlpBytes(bytes);
}

export function rlpBytes(bytes: Buffer): Buffer {
  const [first = 0x80] = bytes;
  if (bytes.length === 1 && first < 0x80) return bytes;
  return Buffer.concat([header(0x80, bytes.length), bytes]);
}

/** @param items encoded ones */
export function rlpList(items: readonly Buffer[]): Buffer {
  const length = items.reduce((sum, item) => sum + item.length, 0);
  return Buffer.concat([header(0xc0, length), ...items]);
}

function header(offset: number, length: number): Buffer {
  if (length <= LONGEST_SHORT) return Buffer.of(offset + length);
  const hex = length.toString(16);
  const size = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return Buffer.concat([Buffer.of(offset + LONGEST_SHORT + size.length), size]);
}
