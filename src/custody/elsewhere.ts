import { TextList } from '../config/config-fields.js';
import { type Address, parseAddress } from '../kernel/hex.js';
import { Addresses, CustodyEntry, type CustodyKey } from './custody-entry.js';

/** Accounts whose keys other nodes have. This node takes their requests within their caps and their policy, and signs nothing. */
export class ElsewhereCustody extends CustodyEntry {
  @Addresses()
  @TextList({ required: true })
  addresses: string[] = [];

  override accountsElsewhere(): readonly Address[] {
    return this.addresses.map((text) => parseAddress(text));
  }

  async keys(): Promise<readonly CustodyKey[]> {
    return [];
  }
}
