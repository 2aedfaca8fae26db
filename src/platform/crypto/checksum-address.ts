import type { Address } from '../../kernel/hex.js';
import type { ChainId } from '../../kernel/signer-id.js';
import { keccak256 } from './keccak256.js';

const NINE = 57;
const SMALL_A = 97;

/** The spelling whose capitals are a checksum: that of EIP-55, or with a chain id that of EIP-1191. */
export function checksumAddress(address: Address, chainId?: ChainId): string {
  const hash = hashOf(address, chainId);
  return address.replaceAll(/[a-f]/g, (digit, at: number) => (isCapital(hash, at - 2) ? digit.toUpperCase() : digit));
}

/** @param text a spelling of the address. Less than 2 µs, because nothing is built: a request may hold thousands. */
export function hasChecksum(text: string, address: Address, chainId?: ChainId): boolean {
  const hash = hashOf(address, chainId);
  for (let at = 0; at < address.length - 2; at += 1) {
    const code = text.charCodeAt(at + 2);
    if (code > NINE && code < SMALL_A !== isCapital(hash, at)) return false;
  }
  return true;
}

function hashOf(address: Address, chainId: ChainId | undefined): Buffer {
  return keccak256(Buffer.from(chainId === undefined ? address.slice(2) : `${chainId}${address}`, 'latin1'));
}

/** Whether the digit is a capital, if it is a letter: the highest bit of the same digit of the hash. */
function isCapital(hash: Buffer, at: number): boolean {
  return ((hash[at >> 1] ?? 0) & (at % 2 === 0 ? 0x80 : 0x08)) !== 0;
}
