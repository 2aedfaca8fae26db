import { Each, Flag, Section, SectionList, Text, TextList, Wei } from '../config/config-fields.js';
import { type Address, SELECTOR } from '../kernel/hex.js';
import { type EcdsaSignature, type Signable, type SignableKind, TYPED_DATA } from '../kernel/signing.js';

/** Where a key is kept, for operators. It never contains the key. */
export interface CustodyReference {
  readonly type: string;
  readonly path?: string;
  /** Of a key service: the database knows the address that it had first, and another one is refused. */
  readonly keyId?: string;
  /** Where the service is; absent where that follows from the key. */
  readonly url?: string;
}

export interface CustodyKey {
  readonly address: Address;
  readonly reference: CustodyReference;
  /** What the key can sign; absent when that is everything. Nothing: outside senders have it, and no node does. */
  readonly signs?: readonly SignableKind[];
  /** Another process signs. The lanes of its signers have workers of their own, so that no others wait for it. */
  readonly isRemote?: boolean;
  /**
   * Signs in the given order. It may be slow and may fail: the caller has a time limit and checks each signature.
   * @param late aborted when the caller waits no more
   */
  sign(items: readonly Signable[], late?: AbortSignal): Promise<EcdsaSignature[]>;
}

/** The rule of an address, or of each in a list. */
export function Addresses(): PropertyDecorator {
  return Each('isAddress', 'must be 0x and 40 hex digits', (text) => /^0x[0-9a-fA-F]{40}$/.test(text));
}

/** The rule of the URL of a custody: without a user and a password, because fetch takes no such URL, and URLs are shown in more places than headers. */
export function HttpUrl(): PropertyDecorator {
  return Each('isHttpUrl', 'must be an http:// or https:// URL without a user', isHttpUrl);
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

/** A receiver that a policy allows. */
export class AllowedCallConfig {
  @Addresses()
  @Text({ required: true })
  address = '';

  /** The first four bytes of the call data, or `0x` for none; without the list any data may be sent. */
  @Each('isSelector', 'must be 0x and 8 hex digits, or 0x', (text) => SELECTOR.test(text))
  @TextList()
  selectors?: string[];
}

/** What a signer may sign. Without a policy that is every transaction; with one, creations, blobs and authorizations only where it names them. */
export class SignerPolicyConfig {
  /** Without the list any receiver is allowed. */
  @SectionList(AllowedCallConfig)
  to?: AllowedCallConfig[];

  /** Wei that one transaction may send. */
  @Wei()
  maxValue?: bigint;

  /** Wei that the gas and blobs of one transaction may cost; it lowers the caps on their prices. */
  @Wei()
  maxFee?: bigint;

  /** Wei that may be sent within 24 hours. */
  @Wei()
  dailyValue?: bigint;

  /** Wei of fees within 24 hours. */
  @Wei()
  dailyFees?: bigint;

  @Flag()
  contractCreation = false;

  /** EIP-4844. */
  @Flag()
  blobs = false;

  /** EIP-7702: transactions with an authorization list, and authorizations for transactions of other signers. */
  @Flag()
  authorizations = false;

  /** EIP-712, which is signed only where it is named: `0x…/Permit` by the verifying contract, or `name/Type` for a domain without one. */
  @Each('isTypedData', 'must be 0x and 40 hex digits, or a name, then / and a type', (text) => TYPED_DATA.test(text))
  @TextList()
  typedData?: string[];

  /** Only reports what it would refuse or hold. */
  @Flag()
  dryRun = false;
}

/** An entry of `chains[].signers`: a subclass adds the keys of one type of custody, and `custody-types.ts` lists it. */
export abstract class CustodyEntry {
  @Text({ required: true })
  type = '';

  /** Of each of its accounts. */
  @Section(SignerFeesConfig)
  fees?: SignerFeesConfig;

  /** Of each of its accounts; each has its own daily amounts. */
  @Section(SignerPolicyConfig)
  policy?: SignerPolicyConfig;

  /** Accounts that it names without their keys. */
  accountsElsewhere(): readonly Address[] {
    return [];
  }

  /** Called once, at the start. The process does not start when it fails. */
  abstract keys(): Promise<readonly CustodyKey[]>;
}

function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return ['http:', 'https:'].includes(protocol) && username === '' && password === '';
}
