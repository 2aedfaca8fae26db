import { messageOf, Unprocessable } from '../../../kernel/errors.js';
import type { SignerId, Nonce } from '../../../kernel/signer-id.js';
import type { AccessList } from '../../chain/index.js';
import type { Address, Hash, Hex } from '../../../kernel/hex.js';
import type { Attempt, AttemptFees, Authorization, SignedAuthorization, TxType } from '../../ledger/index.js';

/** All values in the bytes of a transaction, and what is stored with them. */
export interface AttemptDraft {
  readonly signer: SignerId;
  readonly nonce: Nonce;
  readonly kind: Attempt['kind'];
  readonly txId: string;
  readonly to: Address | null;
  readonly value: bigint;
  readonly data: Hex;
  readonly accessList: AccessList;
  /** Only of type 3. */
  readonly blobHashes?: readonly Hash[];
  /** Only of type 4. Those without a signature get that of the signer of the transaction. */
  readonly authorizationList?: readonly (Authorization | SignedAuthorization)[];
  readonly gasLimit: bigint;
  readonly fees: AttemptFees;
  readonly type: TxType;
  readonly pricedAtBlock: number | null;
}

/** These values can never make a signed transaction. A custody that cannot sign *now* throws `CustodyFailed`. */
export class NotEncodable extends Unprocessable {
  constructor(cause: unknown) {
    super('not_encodable', messageOf(cause), 'create a new transaction with other values', {}, { cause });
  }
}

/** Signs drafts. Deterministic (RFC 6979): the same draft gives the same bytes. */
export abstract class AttemptSigner {
  /**
   * Returns attempts in the order of the drafts.
   * @throws NotEncodable when one of the drafts can never be a signed transaction
   * @throws CustodyFailed when the custody of one signer gives no usable signature: nothing is signed
   */
  abstract sign(drafts: readonly AttemptDraft[]): Promise<Attempt[]>;
}
