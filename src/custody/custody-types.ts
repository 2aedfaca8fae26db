import type { ConfigClass } from '../config/config-fields.js';
import type { CustodyEntry } from './custody-entry.js';
import { ElsewhereCustody } from './elsewhere.js';
import { MnemonicCustody } from './mnemonic.js';
import { PrivateKeyCustody } from './private-key.js';

/** Each type of `chains[].signers`: a new custody is a file in this folder, and a line here. */
export const CUSTODY_TYPES: Record<string, ConfigClass<CustodyEntry>> = {
  privateKey: PrivateKeyCustody,
  mnemonic: MnemonicCustody,
  elsewhere: ElsewhereCustody,
};
