import type { SignerId } from '../../../kernel/signer-id.js';
import type { Authorization, SignedAuthorization } from '../../transactions/index.js';

/** Signs authorizations (EIP-7702) for the transactions of others. */
export abstract class AuthorizationSigner {
  /** @param signer the authority, whose nonce it has */
  abstract sign(signer: SignerId, authorization: Authorization): Promise<SignedAuthorization>;
}
