import type { KMSClient } from '@aws-sdk/client-kms';
import { Each, Text, TextList } from '../config/config-fields.js';
import { CustodyEntry, type CustodyKey, HttpUrl } from './custody-entry.js';
import { kmsKeys } from './kms-keys.js';
import { optionalPackage } from './optional-package.js';

/** Above the time limit of a custody, which asks nothing more until this has ended. */
const TIME_LIMIT_MS = 15_000;
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
        new kms.KMSClient({ ...(region && { region }), ...(this.url && { endpoint: this.url }) });
      clients.set(region, client);
      return client;
    };
    return kmsKeys(this.type, this.keyIds, {
      publicKey: async (KeyId) =>
        (await clientOf(KeyId).send(new kms.GetPublicKeyCommand({ KeyId }), limits())).PublicKey,
      sign: async (KeyId, Message) => {
        const command = new kms.SignCommand({
          KeyId,
          Message,
          MessageType: 'DIGEST',
          SigningAlgorithm: 'ECDSA_SHA_256',
        });
        return (await clientOf(KeyId).send(command, limits())).Signature;
      },
    });
  }
}

const limits = (): { abortSignal: AbortSignal } => ({ abortSignal: AbortSignal.timeout(TIME_LIMIT_MS) });
