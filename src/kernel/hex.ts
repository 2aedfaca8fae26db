import { InvalidInput } from './errors.js';

/** Bytes: `0x` prefix, lower case, even number of digits, as in the database. */
export type Hex = string & { readonly __hex: unique symbol };
/** 32 bytes of {@link Hex}: transaction hashes and block hashes. */
export type Hash = Hex & { readonly __hash: unique symbol };
/** 20 bytes in lower-case hex. Only one spelling, so that two spellings of an address are never two signers. */
export type Address = Hex & { readonly __address: unique symbol };

/** The first four bytes of call data, in any case, or `0x` for none. */
export const SELECTOR = /^0x(?:[0-9a-fA-F]{8})?$/;

const BYTES = /^0x(?:[0-9a-f]{2})*$/;
const HASH = /^0x[0-9a-f]{64}$/;
const ADDRESS = /^0x[0-9a-f]{40}$/;

const isHex = (text: string): text is Hex => BYTES.test(text);
const isHash = (text: string): text is Hash => HASH.test(text);
const isAddress = (text: string): text is Address => ADDRESS.test(text);

/** @throws InvalidInput `invalid_hex` */
export function parseHex(text: string): Hex {
  const normal = text.toLowerCase();
  if (!isHex(normal))
    throw new InvalidInput(
      'invalid_hex',
      `not hex bytes: ${excerpt(text)}`,
      'send 0x followed by an even number of hex digits',
    );
  return normal;
}

/** @throws InvalidInput `invalid_hash` */
export function parseHash(text: string): Hash {
  const normal = text.toLowerCase();
  if (!isHash(normal))
    throw new InvalidInput('invalid_hash', `not a 32-byte hash: ${excerpt(text)}`, 'send 0x followed by 64 hex digits');
  return normal;
}

/**
 * Accepts any case, and no checksum is looked at: what a client sends is read by `clientAddress` (platform/http).
 * @throws InvalidInput `invalid_address`
 */
export function parseAddress(text: string): Address {
  const normal = text.toLowerCase();
  if (!isAddress(normal))
    throw new InvalidInput('invalid_address', `not an address: ${excerpt(text)}`, 'send 0x followed by 40 hex digits');
  return normal;
}

/** Number of bytes, not digits. */
export function byteLength(hex: Hex): number {
  return (hex.length - 2) / 2;
}

/** The start of a client's text, for error messages. */
function excerpt(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text);
}
