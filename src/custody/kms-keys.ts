import { messageOf } from '../kernel/errors.js';
import { answeredWithin, realPause } from '../platform/scheduling/pause.js';
import type { CustodyKey } from './custody-entry.js';
import { signatureOfDer } from './der-signature.js';
import { addressOfSpki } from './public-key.js';
import { remoteKeys } from './remote-keys.js';

/**
 * Above the time limit of a custody, which asks nothing more until this has ended. Limits of a request do not count how long a service of credentials
 * takes, and what hangs would keep one of the turns for ever.
 */
const TIME_LIMIT_MS = 15_000;

/** A key service that signs digests. */
export interface Kms {
  /** @returns a SubjectPublicKeyInfo in DER */
  publicKey(keyId: string): Promise<Uint8Array | undefined>;
  /** @returns an Ecdsa-Sig-Value in DER */
  sign(keyId: string, digest: Uint8Array): Promise<Uint8Array | undefined>;
}

/** What tells the same key from another one, for the database. */
interface KmsReference {
  readonly type: string;
  readonly url?: string;
}

/**
 * The keys of a key service. Their addresses are read here, and each signature is compared with them.
 * @throws Error when the service does not tell a public key
 */
export async function kmsKeys(service: KmsReference, keyIds: readonly string[], kms: Kms): Promise<CustodyKey[]> {
  return remoteKeys(
    await Promise.all(
      keyIds.map(async (keyId) => {
        const address = await addressOf(service.type, keyId, kms);
        return {
          address,
          reference: { ...service, keyId },
          sign: async ({ digest }) => {
            const signed = kms.sign(keyId, Buffer.from(digest.slice(2), 'hex'));
            return signatureOfDer(address, digest, await inTime(signed));
          },
        };
      }),
    ),
  );
}

async function addressOf(type: string, keyId: string, kms: Kms): Promise<ReturnType<typeof addressOfSpki>> {
  try {
    return addressOfSpki(await inTime(kms.publicKey(keyId)));
  } catch (error) {
    throw new Error(`the key ${keyId} of a custody ${type} cannot be used: ${messageOf(error)}`, { cause: error });
  }
}

/** @throws Error when there is no answer, or nothing in it */
async function inTime(answer: Promise<Uint8Array | undefined>): Promise<Uint8Array> {
  const bytes = await answeredWithin(realPause, TIME_LIMIT_MS, answer);
  if (bytes === undefined) throw new Error(`it has not answered within ${TIME_LIMIT_MS} ms`);
  return bytes;
}
