import { Wallet } from 'ethers';
import { Text } from '../../../src/config/config-fields.js';
import { CustodyEntry, type CustodyKey } from '../../../src/custody/custody-entry.js';
import { parseAddress, parseHex } from '../../../src/kernel/hex.js';

/** A custody that has one key, and signs transactions of type 2 only. */
export class ToyCustody extends CustodyEntry {
  @Text({ required: true })
  seed = '';

  async keys(): Promise<readonly CustodyKey[]> {
    const { address, signingKey } = new Wallet(`0x${Buffer.from(this.seed).toString('hex').padStart(64, '0')}`);
    return [
      {
        address: parseAddress(address),
        reference: { type: 'toy' },
        signs: [2],
        sign: async (items) =>
          items.map(({ digest }) => {
            const { r, s, yParity } = signingKey.sign(digest);
            return { r: parseHex(r), s: parseHex(s), yParity };
          }),
      },
    ];
  }
}
