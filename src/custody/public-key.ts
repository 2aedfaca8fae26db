import { createPublicKey } from 'node:crypto';
import { type Address, parseAddress } from '../kernel/hex.js';
import { keccak256 } from '../platform/crypto/keccak256.js';

/** @param point the 64 bytes of a public key: x and y */
export function addressOfPoint(point: Buffer): Address {
  return parseAddress(`0x${keccak256(point).toString('hex', 12)}`);
}

/**
 * @param der a SubjectPublicKeyInfo (RFC 5480)
 * @throws Error when it is no key of secp256k1
 */
export function addressOfSpki(der: Uint8Array): Address {
  const key = createPublicKey({ key: Buffer.from(der), format: 'der', type: 'spki' });
  const curve = key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyType;
  if (curve !== 'secp256k1') throw new Error(`its curve is ${curve}, not secp256k1`);
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  return addressOfPoint(Buffer.concat([Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]));
}
