import type { KMSClient } from '@aws-sdk/client-kms';
import { Each, Text, TextList } from '../config/config-fields.js';
import { CustodyEntry, type CustodyKey, HttpUrl } from './custody-entry.js';
import { kmsKeys } from './kms-keys.js';
import { optionalPackage } from './optional-package.js';

/** The SDK has no limit of its own, and asks up to three times. */
const REQUEST_MS = 4_000;
/** A key of another account or region is named by its ARN. */
const REGION = /^arn:[^:]+:kms:([^:]+):/;

/** Keys of AWS KMS, of the spec `ECC_SECG_P256K1` and the usage `SIGN_VERIFY`. Credentials and region are those that the SDK finds: environment, profile, role. */
export class AwsKmsCustody extends CustodyEntry {
  @Each('isKeyId', 'must be the id, ARN or alias of a key', (text) => /^[\w:/-]{1,2048}$/.test(text))
  @TextList({ required: true })
  keyIds: string[] = [];

  /** Of KMS. Without it that of the region. */
  @HttpUrl()
  @Text()
  url?: string;

  async keys(): Promise<readonly CustodyKey[]> {
    const kms = await optionalPackage('@aws-sdk/client-kms', () => import('@aws-sdk/client-kms'));
    const clients = new Map<string | undefined, KMSClient>();
    const clientOf = (keyId: string): KMSClient => {
      const region = REGION.exec(keyId)?.[1];
      const client =
        clients.get(region) ??
        new kms.KMSClient({
          ...(region && { region }),
          ...(this.url && { endpoint: this.url }),
          requestHandler: { requestTimeout: REQUEST_MS },
        });
      clients.set(region, client);
      return client;
    };
    return kmsKeys({ type: this.type, ...(this.url && { url: this.url }) }, this.keyIds, {
      publicKey: async (KeyId) => (await clientOf(KeyId).send(new kms.GetPublicKeyCommand({ KeyId }))).PublicKey,
      sign: async (KeyId, Message) => {
        const command = new kms.SignCommand({
          KeyId,
          Message,
          MessageType: 'DIGEST',
          SigningAlgorithm: 'ECDSA_SHA_256',
        });
        return (await clientOf(KeyId).send(command)).Signature;
      },
    });
  }
}
