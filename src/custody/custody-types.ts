import type { ConfigClass } from '../config/config-fields.js';
import { AwsKmsCustody } from './aws-kms.js';
import { ClefCustody } from './clef.js';
import type { CustodyEntry } from './custody-entry.js';
import { ElsewhereCustody } from './elsewhere.js';
import { ExternalCustody } from './external.js';
import { GoogleKmsCustody } from './google-kms.js';
import { KeystoreCustody } from './keystore.js';
import { MnemonicCustody } from './mnemonic.js';
import { PrivateKeyCustody } from './private-key.js';
import { Web3SignerCustody } from './web3signer.js';

/** Each type of `chains[].signers`: a new custody is a file in this folder, and a line here. */
export const CUSTODY_TYPES: Record<string, ConfigClass<CustodyEntry>> = {
  privateKey: PrivateKeyCustody,
  mnemonic: MnemonicCustody,
  keystore: KeystoreCustody,
  clef: ClefCustody,
  web3signer: Web3SignerCustody,
  awsKms: AwsKmsCustody,
  googleKms: GoogleKmsCustody,
  elsewhere: ElsewhereCustody,
  external: ExternalCustody,
};
