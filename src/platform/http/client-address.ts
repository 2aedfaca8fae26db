import { InvalidInput } from '../../kernel/errors.js';
import { type Address, parseAddress } from '../../kernel/hex.js';
import type { ChainId } from '../../kernel/signer-id.js';
import { checksumAddress, hasChecksum } from '../crypto/checksum-address.js';

/** Rootstock and its test network: their wallets spell addresses by EIP-1191. */
const EIP_1191_CHAINS: readonly ChainId[] = [30, 31];

/**
 * Reads an address that a client sent. Capitals among small letters are a checksum, and a typo breaks it. A chain of EIP-1191 has two right
 * spellings: its own, and that of EIP-55, which general tools write there. Without a chain those of all chains are right. An address in one
 * case has no checksum and costs no hash.
 * @throws InvalidInput `invalid_address`, `invalid_checksum`
 */
export function clientAddress(text: string, chains?: ChainId | readonly ChainId[] | null): Address {
  const address = parseAddress(text);
  const [given, digits] = [text.slice(2), address.slice(2)];
  if (given === digits || given === digits.toUpperCase()) return address;
  if (hasChecksum(text, address)) return address;
  const own = EIP_1191_CHAINS.filter(
    (id) => chains == null || (typeof chains === 'number' ? chains === id : chains.includes(id)),
  );
  if (own.some((id) => hasChecksum(text, address, id))) return address;
  const expected = [checksumAddress(address), ...own.map((id) => checksumAddress(address, id))];
  throw new InvalidInput(
    'invalid_checksum',
    `the capitals of address ${text} are not its checksum, so it may have a typo; the checksum of these digits is ${expected.join(' or ')}`,
    'compare every digit with the address that you mean; then send that one with its checksum, or in lower case',
    { address: text, expected },
  );
}
