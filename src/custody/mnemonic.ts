import { registerDecorator } from 'class-validator';
import { HDNodeWallet, Mnemonic } from 'ethers';
import { Count, Text } from '../config/config-fields.js';
import { CustodyEntry, type CustodyKey } from './custody-entry.js';
import { localKey } from './local-key.js';

/** A derivation takes about a millisecond, and many chains may use the same accounts, so results are kept. */
const derived = new Map<string, CustodyKey>();

export class MnemonicCustody extends CustodyEntry {
  @IsPhrase()
  @Text({ required: true })
  phrase = '';

  /** The index of each account is appended (BIP-44). */
  @Text({ form: /^m(\/\d+'?)+$/, words: "must be a derivation path such as m/44'/60'/0'/0" })
  path = "m/44'/60'/0'/0";

  /** Number of accounts, from index 0. */
  @Count({ max: 10_000 })
  count = 1;

  async keys(): Promise<readonly CustodyKey[]> {
    let root: HDNodeWallet | null = null;
    return Array.from({ length: this.count }, (_, index) => {
      const name = `${this.phrase}/${this.path}/${index}`;
      const known = derived.get(name);
      if (known) return known;
      root ??= HDNodeWallet.fromMnemonic(Mnemonic.fromPhrase(this.phrase), this.path);
      const key = localKey(root.deriveChild(index), { type: 'mnemonic', path: `${this.path}/${index}` });
      derived.set(name, key);
      return key;
    });
  }
}

/** BIP-39 phrases have 12 to 24 words, in steps of three. The derivation checks the words. */
function IsPhrase(): PropertyDecorator {
  return (prototype, key) =>
    registerDecorator({
      name: 'isPhrase',
      target: prototype.constructor,
      propertyName: String(key),
      options: { message: 'must have 12, 15, 18, 21 or 24 words' },
      validator: {
        validate: (phrase: unknown) =>
          typeof phrase === 'string' && [12, 15, 18, 21, 24].includes(phrase.trim().split(/\s+/).length),
      },
    });
}
