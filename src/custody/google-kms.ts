import { createPublicKey } from 'node:crypto';
import { Each, Text, TextList } from '../config/config-fields.js';
import { CustodyEntry, type CustodyKey } from './custody-entry.js';
import { kmsKeys } from './kms-keys.js';
import { optionalPackage } from './optional-package.js';

/** Of one request, with the retries of the SDK. */
const REQUEST = { timeout: 4_000 };
const KEY_VERSION = /^projects\/[^/]+\/locations\/[^/]+\/keyRings\/[^/]+\/cryptoKeys\/[^/]+\/cryptoKeyVersions\/\d+$/;

/** Key versions of Google Cloud KMS, of the algorithm `EC_SIGN_SECP256K1_SHA256`. Credentials are those that the SDK finds (Application Default Credentials). */
export class GoogleKmsCustody extends CustodyEntry {
  @Each('isKeyVersion', 'must be projects/…/locations/…/keyRings/…/cryptoKeys/…/cryptoKeyVersions/N', (text) =>
    KEY_VERSION.test(text),
  )
  @TextList({ required: true })
  keyIds: string[] = [];

  /** Of KMS: a host with an endpoint of its own. Without it Google's. */
  @Each('isOrigin', 'must be http:// or https:// with a host, and no path', isOrigin)
  @Text()
  url?: string;

  async keys(): Promise<readonly CustodyKey[]> {
    const { KeyManagementServiceClient } = await optionalPackage(
      '@google-cloud/kms',
      () => import('@google-cloud/kms'),
    );
    // REST: a connection that a firewall dropped ends with its request.
    const kms = new KeyManagementServiceClient({ fallback: true, ...(this.url && endpointOf(new URL(this.url))) });
    return kmsKeys({ type: this.type, ...(this.url && { url: this.url }) }, this.keyIds, {
      publicKey: async (name) => {
        const [{ pem }] = await kms.getPublicKey({ name }, REQUEST);
        return createPublicKey(pem ?? '').export({ format: 'der', type: 'spki' });
      },
      // Its checksums are not asked for: each signature is compared with the address.
      sign: async (name, sha256) => {
        const [{ signature }] = await kms.asymmetricSign({ name, digest: { sha256 } }, REQUEST);
        return Buffer.from(signature ?? '');
      },
    });
  }
}

function isOrigin(text: string): boolean {
  return (
    URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && new URL(text).href === `${new URL(text).origin}/`
  );
}

function endpointOf({ protocol, hostname, port }: URL): object {
  const isTls = protocol === 'https:';
  return { protocol: isTls ? 'https' : 'http', apiEndpoint: hostname, port: Number(port || (isTls ? 443 : 80)) };
}
