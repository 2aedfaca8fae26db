import { messageOf, Unprocessable } from '../../../kernel/errors.js';
import type { SignerId, Nonce } from '../../../kernel/signer-id.js';
import type { AccessList } from '../../chain/index.js';
import type { Address, Hex } from '../../../kernel/hex.js';
import type { Attempt, AttemptFees, AttemptKind } from '../../transactions/index.js';

/** Everything that goes into the bytes of an EIP-1559 transaction. */
export interface AttemptDraft {
  readonly signer: SignerId;
  readonly nonce: Nonce;
  readonly kind: AttemptKind;
  readonly txId: string | null;
  readonly to: Address | null;
  readonly value: bigint;
  readonly data: Hex;
  readonly accessList: AccessList;
  readonly gasLimit: bigint;
  readonly fees: AttemptFees;
}

/** These values make no transaction, today or ever; a custody that cannot sign *now* is another matter. */
export class NotEncodable extends Unprocessable {
  constructor(cause: unknown) {
    super('not_encodable', messageOf(cause), 'create a new transaction with other values', {}, { cause });
  }
}

/** Turns drafts into signed bytes. Deterministic (RFC 6979): the same draft gives the same bytes. */
export abstract class AttemptSigner {
  /**
   * Answers in the order given.
   * @throws NotEncodable when one of the drafts can never be a transaction
   */
  abstract sign(drafts: readonly AttemptDraft[]): Promise<Attempt[]>;
}
