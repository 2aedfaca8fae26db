import { registerDecorator } from 'class-validator';
import { NODE_ERROR_CLASSES, type NodeErrorClass } from '../../kernel/node-error-class.js';
import { Choice, Count, Duration, Section, SectionList, Text, TextList, VariantList, Wei } from '../config-fields.js';
import { FINALITY_MODES, type FinalityMode } from './settlement-config.js';
import { MnemonicSignerConfig, PrivateKeySignerConfig, type SignerConfig } from './signer-config.js';

export class ChainConfirmationsConfig {
  /** Instead of `confirmations.finality`. */
  @Choice(FINALITY_MODES)
  finality?: FinalityMode;

  /** Instead of `confirmations.required`. */
  @Count({ max: 100_000 })
  required?: number;
}

/**
 * No transaction of the chain is signed above these prices, whoever chose them: a mad quote must not be paid. The defaults let
 * through every market seen on the large chains; raise them where the coin is worth little.
 */
export class ChainFeesConfig {
  /** Wei per gas; 5,000 gwei. */
  @Wei()
  maxFeePerGas = 5_000_000_000_000n;

  /** Wei per gas; 500 gwei, as geth's own suggestions (`--gpo.maxprice`). */
  @Wei()
  maxPriorityFeePerGas = 500_000_000_000n;
}

/** A chain's own words for a known class of node error. */
export class ErrorPatternConfig {
  @Each('isPattern', 'must be a regular expression', compiles)
  @Text({ required: true })
  pattern = '';

  @Choice(NODE_ERROR_CLASSES, { required: true })
  class: NodeErrorClass = 'unknown';
}

export class ChainConfig {
  /** EIP-155. */
  @Count({ max: Number.MAX_SAFE_INTEGER, required: true })
  id = 0;

  /** `chain-<id>` when not given. */
  @Text()
  name = '';

  @Each('isRpcUrl', 'must be http:// or https:// URLs', hasScheme('http:', 'https:'))
  @TextList({ required: true })
  rpcUrls: string[] = [];

  /** Where new heads are announced; polling alone when not given. */
  @Each('isWsUrl', 'must be ws:// or wss:// URLs', hasScheme('ws:', 'wss:'))
  @TextList()
  wsUrls?: string[];

  /** Milliseconds. */
  @Duration()
  rpcTimeout = 10_000;

  @Count({ max: 1000 })
  rpcBatchSize = 100;

  /** Bytes of one request with several calls. nginx takes 1 MiB by default, geth 5 MB. */
  @Count({ min: 1_000, max: 100_000_000 })
  rpcBatchBytes = 1_000_000;

  /** Blocks an endpoint may be behind the best one before it is not read from, if there is another. */
  @Count({ min: 0 })
  maxLag = 5;

  /** Milliseconds between two looks at the head. */
  @Duration()
  pollInterval = 1_000;

  @Section(ChainConfirmationsConfig)
  confirmations?: ChainConfirmationsConfig;

  @Section(ChainFeesConfig)
  fees?: ChainFeesConfig;

  @SectionList(ErrorPatternConfig)
  errorPatterns: ErrorPatternConfig[] = [];

  @VariantList('type', { privateKey: PrivateKeySignerConfig, mnemonic: MnemonicSignerConfig })
  signers: SignerConfig[] = [];
}

/** A rule for a text, or for every text of a list. */
function Each(name: string, message: string, holds: (text: string) => boolean): PropertyDecorator {
  return (prototype, key) =>
    registerDecorator({
      name,
      target: prototype.constructor,
      propertyName: String(key),
      options: { message },
      validator: {
        validate: (value: unknown) =>
          (Array.isArray(value) ? value : [value]).every((item: unknown) => typeof item === 'string' && holds(item)),
      },
    });
}

function compiles(pattern: string): boolean {
  try {
    new RegExp(pattern, 'i');
    return true;
  } catch {
    return false;
  }
}

function hasScheme(...schemes: readonly string[]): (text: string) => boolean {
  return (text) => URL.canParse(text) && schemes.includes(new URL(text).protocol);
}
