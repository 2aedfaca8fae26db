import { Injectable } from '@nestjs/common';
import { InvariantViolation } from '../../../kernel/errors.js';
import type { SignerId } from '../../../kernel/signer-id.js';
import { Custody } from '../../signers/index.js';
import type { Authorization, SignedAuthorization } from '../../transactions/index.js';
import { AuthorizationSigner } from '../application/authorization-signer.js';
import { signAuthorizations } from './sign-authorizations.js';

@Injectable()
export class CustodyAuthorizationSigner extends AuthorizationSigner {
  constructor(private readonly custody: Custody) {
    super();
  }

  async sign(signer: SignerId, authorization: Authorization): Promise<SignedAuthorization> {
    const [signed] = await signAuthorizations(this.custody, { signer, authorizationList: [authorization] });
    if (!signed) throw new InvariantViolation('the custody returned no signature');
    return signed;
  }
}
