import { Section, Text, Wei } from '../config/config-fields.js';
import type { Address } from '../kernel/hex.js';
import type { EcdsaSignature, Signable, SignableKind } from '../kernel/signing.js';

/** Where a key is kept, for operators. It never contains the key. */
export interface CustodyReference {
  readonly type: string;
  readonly path?: string;
}

export interface CustodyKey {
  readonly address: Address;
  readonly reference: CustodyReference;
  /** What the key can sign; absent when that is everything. */
  readonly signs?: readonly SignableKind[];
  /** Signs in the given order. It may be slow and may fail: the caller has a time limit and checks each signature. */
  sign(items: readonly Signable[]): Promise<EcdsaSignature[]>;
}

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

/** An entry of `chains[].signers`: a subclass adds the keys of one type of custody, and `custody-types.ts` lists it. */
export abstract class CustodyEntry {
  @Text({ required: true })
  type = '';

  /** Of each of its accounts. */
  @Section(SignerFeesConfig)
  fees?: SignerFeesConfig;

  /** Called once, at the start. The process does not start when it fails. */
  abstract keys(): Promise<readonly CustodyKey[]>;
}
