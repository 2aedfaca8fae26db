import { createRequire } from 'node:module';
import { Injectable } from '@nestjs/common';
import { SigningKey } from 'ethers';
import { type Hash, parseHex } from '../../../kernel/hex.js';
import type { EcdsaSignature } from '../domain/custody.js';

/** The part of the `secp256k1` package that signs. Its native build and its JavaScript build both return low-s signatures. */
interface NativeSecp256k1 {
  ecdsaSign(message: Uint8Array, privateKey: Uint8Array): { signature: Uint8Array; recid: number };
}

/**
 * RFC 6979 signatures. Native secp256k1 takes 0.05 ms, pure JavaScript 0.6 ms (measured on two cores), so the native build is used where it
 * loads. It is an optional dependency: without it signing works, but slower.
 */
@Injectable()
export class EcdsaSigner {
  private readonly native: NativeSecp256k1 | null;

  constructor(native: NativeSecp256k1 | null = loadNative()) {
    this.native = native;
  }

  get implementation(): 'native' | 'javascript' {
    return this.native ? 'native' : 'javascript';
  }

  sign(digest: Hash, privateKey: string): EcdsaSignature {
    return this.native ? signNatively(this.native, digest, privateKey) : signInJavaScript(digest, privateKey);
  }
}

function signNatively(native: NativeSecp256k1, digest: Hash, privateKey: string): EcdsaSignature {
  const { signature, recid } = native.ecdsaSign(bytes(digest), bytes(privateKey));
  const hex = Buffer.from(signature).toString('hex');
  return { r: parseHex(`0x${hex.slice(0, 64)}`), s: parseHex(`0x${hex.slice(64)}`), yParity: recid === 0 ? 0 : 1 };
}

function signInJavaScript(digest: Hash, privateKey: string): EcdsaSignature {
  const { r, s, yParity } = new SigningKey(privateKey).sign(digest);
  return { r: parseHex(r), s: parseHex(s), yParity };
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
