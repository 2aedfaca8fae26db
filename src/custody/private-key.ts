import { Wallet } from 'ethers';
import { Text } from '../config/config-fields.js';
import { CustodyEntry, type CustodyKey } from './custody-entry.js';
import { localKey } from './local-key.js';

export class PrivateKeyCustody extends CustodyEntry {
  @Text({ form: /^0x[0-9a-fA-F]{64}$/, words: 'must be 0x followed by 64 hex digits, in quotes', required: true })
  key = '';

  async keys(): Promise<readonly CustodyKey[]> {
    return [localKey(new Wallet(this.key), { type: 'privateKey' })];
  }
}
