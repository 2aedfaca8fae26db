import { InvalidInput } from './errors.js';

/** Upper bound of every amount on an EVM chain (a 256-bit word). */
const MAX_UINT256 = (1n << 256n) - 1n;

/**
 * A non-negative amount: a decimal string, a 0x-prefixed hex string, or a safe integer.
 * @throws InvalidInput `invalid_quantity`
 */
export function parseQuantity(value: string | number, max: bigint = MAX_UINT256): bigint {
  const text = typeof value === 'number' ? (Number.isSafeInteger(value) ? String(value) : '') : value;
  if (!/^(?:0|[1-9]\d{0,77}|0x[0-9a-fA-F]{1,64})$/.test(text)) {
    throw new InvalidInput(
      'invalid_quantity',
      'not a non-negative integer of at most 256 bits',
      'send a decimal string such as "1000000000000000000"',
    );
  }
  const parsed = BigInt(text);
  if (parsed > max) throw new InvalidInput('invalid_quantity', `larger than ${max}`, 'send a smaller number');
  return parsed;
}

/** JSON keeps integers exact up to 2^53; above that a nonce is written as a decimal string. */
export function toJsonInteger(value: bigint): number | string {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value.toString();
}

/** Amounts as decimal strings; what is null is left out. */
export function toDecimals<Name extends string>(
  amounts: Readonly<Record<Name, bigint | null>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries<bigint | null>(amounts).flatMap(([name, amount]) => (amount === null ? [] : [[name, `${amount}`]])),
  );
}

export function maxOf(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

export function minOf(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** The most that the base fee of the next block can be (EIP-1559), wei per gas. */
export function highestNextBaseFee(baseFee: bigint): bigint {
  return (baseFee * 9n + 7n) / 8n;
}
