import { Unprocessable } from '../../../kernel/errors.js';
import type { SignerId } from '../../../kernel/signer-id.js';
import type { EcdsaSignature, Signable, SignableKind } from '../../../kernel/signing.js';

/** Caps of one signer in the config: wei per gas, and per blob gas; absent where the signer has none of its own. */
export interface SignerFees {
  readonly maxFeePerGas?: bigint;
  readonly maxPriorityFeePerGas?: bigint;
  readonly maxFeePerBlobGas?: bigint;
}

/** The policy of one signer in the config: wei; absent where there is no limit, and without `to` any receiver is allowed. */
export interface SignerPolicy {
  readonly to?: readonly { readonly address: string; readonly selectors?: readonly string[] }[];
  readonly maxValue?: bigint;
  readonly maxFee?: bigint;
  readonly dailyValue?: bigint;
  readonly dailyFees?: bigint;
  readonly contractCreation: boolean;
  readonly blobs: boolean;
  readonly authorizations: boolean;
  readonly typedData?: readonly string[];
  readonly dryRun: boolean;
}

/** What the config says of a signer, whether this node has its key or not. */
export interface SignerRules {
  readonly signer: SignerId;
  readonly fees?: SignerFees;
  readonly policy?: SignerPolicy;
}

export interface CustodiedSigner {
  readonly signer: SignerId;
  /** Where the key is kept, for operators. It never contains the key. */
  readonly reference: { readonly type: string; readonly path?: string; readonly keyId?: string; readonly url?: string };
  /** The entry of the config; only where another process signs for its accounts. */
  readonly remote?: string;
}

/** The custody gave no usable signature: it failed, took too long, or signed with another key. A later try may succeed. */
export class CustodyFailed extends Error {
  override readonly name = 'CustodyFailed';
}

/** The custody of the signer never signs what is asked for. */
export class CannotSign extends Unprocessable {}

/** Outside senders have the key of the signer, and no node does. */
export class ExternalSigner extends CannotSign {
  constructor({ chainId, address }: SignerId) {
    super(
      'external_signer',
      `Lockstep has no key of ${address}, and signs nothing for it: its custody is external`,
      'reserve a nonce with POST /api/v1/signers/{chainId}/{address}/nonces, and sign where the key is; or use another signer',
      { chainId, address },
    );
  }
}

/** Has the keys of all types of custody, as they were listed at the start, and signs with them. */
export abstract class Custody {
  abstract signers(): readonly CustodiedSigner[];
  /** Of all signers that the config names. */
  abstract rules(): readonly SignerRules[];
  abstract has(signer: SignerId): boolean;
  /** Whether outside senders have its key, and no node does: nothing is signed for it. Not of a signer that this node does not have. */
  abstract isExternal(signer: SignerId): boolean;
  /**
   * A signer whose key another node has is not judged here.
   * @param kind without it, whether it signs anything
   * @throws CannotSign
   */
  abstract assertSigns(signer: SignerId, kind?: SignableKind): void;
  /**
   * Signs in the given order. Each signature is checked: it is one of the signer's key.
   * @throws CustodyFailed
   * @throws CannotSign
   */
  abstract sign(signer: SignerId, items: readonly Signable[]): Promise<EcdsaSignature[]>;
}
