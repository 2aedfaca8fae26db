import { messageOf } from '../kernel/errors.js';
import type { CustodyKey } from './custody-entry.js';
import { signatureOfDer } from './der-signature.js';
import { addressOfSpki } from './public-key.js';
import { remoteKeys } from './remote-keys.js';

/** A key service that signs digests. */
export interface Kms {
  /** @returns a SubjectPublicKeyInfo in DER */
  publicKey(keyId: string): Promise<Uint8Array | undefined>;
  /** @returns an Ecdsa-Sig-Value in DER */
  sign(keyId: string, digest: Uint8Array): Promise<Uint8Array | undefined>;
}

/**
 * The keys of a key service. Their addresses are read here, and each signature is compared with them.
 * @throws Error when the service does not tell a public key
 */
export async function kmsKeys(type: string, keyIds: readonly string[], kms: Kms): Promise<CustodyKey[]> {
  return remoteKeys(
    await Promise.all(
      keyIds.map(async (keyId) => {
        const address = await addressOf(type, keyId, kms);
        return {
          address,
          reference: { type, keyId },
          sign: async ({ digest }) => {
            const der = await kms.sign(keyId, Buffer.from(digest.slice(2), 'hex'));
            return signatureOfDer(address, digest, der ?? new Uint8Array());
          },
        };
      }),
    ),
  );
}

async function addressOf(type: string, keyId: string, kms: Kms): Promise<ReturnType<typeof addressOfSpki>> {
  try {
    return addressOfSpki((await kms.publicKey(keyId)) ?? new Uint8Array());
  } catch (error) {
    throw new Error(`the key ${keyId} of a custody ${type} cannot be used: ${messageOf(error)}`, { cause: error });
  }
}
