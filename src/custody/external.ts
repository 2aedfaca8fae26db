import { TextList } from '../config/config-fields.js';
import { parseAddress } from '../kernel/hex.js';
import { Addresses, CustodyEntry, type CustodyKey } from './custody-entry.js';

/** Accounts whose keys no node has: outside senders sign, with nonces that Lockstep gives them. Every node of a deployment names them so. */
export class ExternalCustody extends CustodyEntry {
  @Addresses()
  @TextList({ required: true })
  addresses: string[] = [];

  async keys(): Promise<readonly CustodyKey[]> {
    if (this.fees ?? this.policy)
      throw new Error('chains[].signers[] of type external have neither fees nor policy: nothing is signed for them');
    return this.addresses.map((text) => ({
      address: parseAddress(text),
      reference: { type: this.type },
      signs: [],
      sign: () => Promise.reject(new Error('the key is not here')),
    }));
  }
}
