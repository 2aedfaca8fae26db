import { type Address, type Hash, type Hex, parseHex } from '../kernel/hex.js';
import type { EcdsaSignature } from '../kernel/signing.js';
import { LARGEST_S, ORDER, SECP256K1 } from './secp256k1.js';

/**
 * What key services and HSMs answer: no recovery id, and any of both values of s. Here it has the low one (EIP-2).
 * @param der an Ecdsa-Sig-Value (RFC 3279): a sequence of the integers r and s
 * @throws Error when it is none, or not one of the key of the address
 */
export function signatureOfDer(address: Address, digest: Hash, der: Uint8Array): EcdsaSignature {
  const [r, given] = integersOf(Buffer.from(der));
  const s = given > LARGEST_S ? ORDER - given : given;
  for (const yParity of [0, 1] as const) {
    const signature = { r: word(r), s: word(s), yParity };
    if (SECP256K1.isBy(address, digest, signature)) return signature;
  }
  throw new Error('the custody signs with another key');
}

function integersOf(der: Buffer): [bigint, bigint] {
  const rEnd = 4 + (der[3] ?? 0);
  const sEnd = rEnd + 2 + (der[rEnd + 1] ?? 0);
  const isSignature =
    der[0] === 0x30 && der[1] === der.length - 2 && der[2] === 0x02 && der[rEnd] === 0x02 && sEnd === der.length;
  // Each at most 32 bytes, and a zero where the first would be a sign.
  if (!isSignature || rEnd > 37 || sEnd - rEnd > 35 || rEnd === 4 || sEnd === rEnd + 2)
    throw new Error('the custody answers no signature');
  return [integer(der.subarray(4, rEnd)), integer(der.subarray(rEnd + 2, sEnd))];
}

function integer(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString('hex')}`);
}

function word(value: bigint): Hex {
  return parseHex(`0x${value.toString(16).padStart(64, '0')}`);
}
