import { registerDecorator } from 'class-validator';
import { Choice, Count, Section, Text, Wei } from '../config-fields.js';

/** Lower prices than `chains[].fees` for the transactions of one signer; a key that is left out is that of the chain. */
export class SignerFeesConfig {
  /** Wei per gas. */
  @Wei()
  maxFeePerGas?: bigint;

  /** Wei per gas. */
  @Wei()
  maxPriorityFeePerGas?: bigint;

  /** Wei per blob gas. */
  @Wei()
  maxFeePerBlobGas?: bigint;
}

export class PrivateKeySignerConfig {
  @Choice(['privateKey'])
  type = 'privateKey' as const;

  @Text({ form: /^0x[0-9a-fA-F]{64}$/, words: 'must be 0x followed by 64 hex digits, in quotes', required: true })
  key = '';

  @Section(SignerFeesConfig)
  fees?: SignerFeesConfig;
}

export class MnemonicSignerConfig {
  @Choice(['mnemonic'])
  type = 'mnemonic' as const;

  @IsPhrase()
  @Text({ required: true })
  phrase = '';

  /** The index of each account is appended (BIP-44). */
  @Text({ form: /^m(\/\d+'?)+$/, words: "must be a derivation path such as m/44'/60'/0'/0" })
  path = "m/44'/60'/0'/0";

  /** Number of accounts, from index 0. */
  @Count({ max: 10_000 })
  count = 1;

  /** Of each of its accounts. */
  @Section(SignerFeesConfig)
  fees?: SignerFeesConfig;
}

export type SignerConfig = PrivateKeySignerConfig | MnemonicSignerConfig;

/** BIP-39 phrases have 12 to 24 words, in steps of three. Custody checks the words. */
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
