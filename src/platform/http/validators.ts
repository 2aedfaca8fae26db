import { ValidateBy, type ValidationArguments, type ValidationOptions } from 'class-validator';
import { hasCharacters } from '../../kernel/characters.js';
import { byteLength, parseAddress, parseHash, parseHex } from '../../kernel/hex.js';
import { parseQuantity } from '../../kernel/quantities.js';
import { parseTime } from '../../kernel/time.js';

/** The form of an address. Its checksum depends on the chain: `clientAddress` checks it. */
export function IsAddressText(options?: ValidationOptions): PropertyDecorator {
  const holds = (value: unknown): boolean => typeof value === 'string' && accepts(() => parseAddress(value));
  return rule('isAddressText', 'invalid_address', 'must be an address: 0x followed by 40 hex digits', holds, options);
}

/** A hash as 0x-prefixed hex, in any case. */
export function IsHash(options?: ValidationOptions): PropertyDecorator {
  const holds = (value: unknown): boolean => typeof value === 'string' && accepts(() => parseHash(value));
  return rule('isHash', 'invalid_hash', 'must be a hash: 0x followed by 64 hex digits', holds, options);
}

/** Bytes as 0x-prefixed hex, in any case. */
export function IsHexBytes({ maxBytes }: { maxBytes: number }, options?: ValidationOptions): PropertyDecorator {
  const words = `must be hex bytes: 0x followed by an even number of hex digits, at most ${maxBytes} bytes`;
  const holds = (value: unknown): boolean =>
    // Check the length first, so that a body of a megabyte is refused without reading it.
    typeof value === 'string' &&
    value.length <= 2 + 2 * maxBytes &&
    accepts(() => byteLength(parseHex(value)) <= maxBytes);
  return rule('isHexBytes', 'invalid_hex', words, holds, options, [maxBytes]);
}

/** A non-negative amount of at most 256 bits: a decimal string, 0x hex, or a safe integer. */
export function IsQuantity(options?: ValidationOptions): PropertyDecorator {
  const words =
    'must be a whole number from 0 to 2^256-1: send a decimal string such as "1000000000000000000", or 0x hex';
  const holds = (value: unknown): boolean =>
    (typeof value === 'string' || typeof value === 'number') && accepts(() => parseQuantity(value));
  return rule('isQuantity', 'invalid_quantity', words, holds, options);
}

/** So many characters as PostgreSQL counts them: class-validator does not count variation selectors, and then the database refuses the row. */
export function HasChars(
  { min = 0, max }: { min?: number; max: number },
  options?: ValidationOptions,
): PropertyDecorator {
  const words = min === 0 ? `must have at most ${max} characters` : `must have ${min} to ${max} characters`;
  const holds = (value: unknown): boolean => typeof value === 'string' && hasCharacters(value, min, max);
  const name = min === 0 ? 'maxLength' : 'isLength';
  return rule(name, 'invalid_field', words, holds, options, min === 0 ? [max] : [min, max]);
}

/** A time with its zone, or a date. */
export function IsTime(options?: ValidationOptions): PropertyDecorator {
  const holds = (value: unknown): boolean => typeof value === 'string' && accepts(() => parseTime(value));
  return rule('isTime', 'invalid_time', 'must be a time such as "2030-01-01T00:00:00.000Z"', holds, options);
}

function rule(
  name: string,
  code: string,
  words: string,
  holds: (value: unknown) => boolean,
  options?: ValidationOptions,
  constraints: unknown[] = [],
): PropertyDecorator {
  const defaultMessage = (given?: ValidationArguments): string => `${given?.property ?? 'the value'} ${words}`;
  return ValidateBy(
    { name, constraints, validator: { validate: holds, defaultMessage } },
    { context: { code }, ...options },
  );
}

function accepts(parse: () => unknown): boolean {
  try {
    return parse() !== false;
  } catch {
    return false;
  }
}
