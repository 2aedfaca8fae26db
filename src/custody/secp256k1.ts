import { createRequire } from 'node:module';
import { recoverAddress, SigningKey } from 'ethers';
import { type Address, type Hash, parseAddress, parseHex } from '../kernel/hex.js';
import type { EcdsaSignature } from '../kernel/signing.js';
import { keccak256 } from '../platform/crypto/keccak256.js';

/** The part of the `secp256k1` package that is used. Its signatures have a low s. */
interface NativeSecp256k1 {
  ecdsaSign(message: Uint8Array, privateKey: Uint8Array): { signature: Uint8Array; recid: number };
  ecdsaRecover(signature: Uint8Array, recid: number, message: Uint8Array, compressed: boolean): Uint8Array;
}

/** Of the curve. */
export const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** EIP-2. */
export const LARGEST_S = ORDER / 2n;

/**
 * RFC 6979 signatures. The native build of secp256k1 is an optional dependency; where it does not load, the JavaScript of ethers does the
 * same, but slower. CPU of one signature (two cores, Node 20): signing 0.05 ms native and 0.5 ms otherwise; checking whose it is 0.07 ms and 1.9 ms.
 */
export class Secp256k1 {
  constructor(private readonly native: NativeSecp256k1 | null = loadNative()) {}

  get implementation(): 'native' | 'javascript' {
    return this.native ? 'native' : 'javascript';
  }

  sign(digest: Hash, privateKey: string): EcdsaSignature {
    if (this.native) return signNatively(this.native, digest, privateKey);
    const { r, s, yParity } = new SigningKey(privateKey).sign(digest);
    return { r: parseHex(r), s: parseHex(s), yParity };
  }

  /** @returns whether the signature has a low s, and is one of the key of the address */
  isBy(address: Address, digest: Hash, signature: EcdsaSignature): boolean {
    try {
      return BigInt(signature.s) <= LARGEST_S && this.recover(digest, signature) === address;
    } catch {
      // No signature at all.
      return false;
    }
  }

  recover(digest: Hash, { r, s, yParity }: EcdsaSignature): Address {
    if (!this.native) return parseAddress(recoverAddress(digest, { r, s, yParity }));
    const publicKey = this.native.ecdsaRecover(bytes(`${r}${s.slice(2)}`), yParity, bytes(digest), false);
    return parseAddress(`0x${keccak256(publicKey.subarray(1)).toString('hex', 12)}`);
  }
}

function signNatively(native: NativeSecp256k1, digest: Hash, privateKey: string): EcdsaSignature {
  const { signature, recid } = native.ecdsaSign(bytes(digest), bytes(privateKey));
  const hex = Buffer.from(signature).toString('hex');
  return { r: parseHex(`0x${hex.slice(0, 64)}`), s: parseHex(`0x${hex.slice(64)}`), yParity: recid === 0 ? 0 : 1 };
}

function bytes(hex: string): Uint8Array {
  return Buffer.from(hex.slice(2), 'hex');
}

function loadNative(): NativeSecp256k1 | null {
  const require = createRequire(import.meta.url);
  try {
    // The entry point of the package falls back to a slow JavaScript library without an error. `bindings.js` loads the native build or
    // fails.
    return require('secp256k1/bindings.js') as NativeSecp256k1;
  } catch {
    return null;
  }
}

export const SECP256K1 = new Secp256k1();
