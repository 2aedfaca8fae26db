import { Injectable } from '@nestjs/common';
import { InvariantViolation } from '../../../kernel/errors.js';
import { parseHash } from '../../../kernel/hex.js';
import { rlpBytes, rlpInteger, rlpList } from '../../../kernel/rlp.js';
import type { SignerId } from '../../../kernel/signer-id.js';
import type { Signable } from '../../../kernel/signing.js';
import { keccak256 } from '../../../platform/crypto/keccak256.js';
import { Custody } from '../../signers/index.js';
import type { Authorization, SignedAuthorization } from '../../ledger/index.js';
import type { AttemptDraft } from './attempt-signer.js';

/** EIP-7702: the first byte of what an authority signs. */
const MAGIC = Buffer.of(5);

/** Signs authorizations (EIP-7702) for the transactions of others. */
@Injectable()
export class AuthorizationSigner {
  constructor(private readonly custody: Custody) {}

  /** Where its key is elsewhere, nobody here ever signs for it. */
  isSigning(signer: SignerId): boolean {
    return !this.custody.isExternal(signer);
  }

  /** @param signer the authority, whose nonce it has */
  async sign(signer: SignerId, authorization: Authorization): Promise<SignedAuthorization> {
    const [signed] = await signAuthorizations(this.custody, { signer, authorizationList: [authorization] });
    if (!signed) throw new InvariantViolation('the custody returned no signature');
    return signed;
  }
}

/** The signer of a transaction signs its own authorizations. The others have signatures already. */
export async function signAuthorizations(
  custody: Custody,
  { signer, authorizationList = [] }: Pick<AttemptDraft, 'signer' | 'authorizationList'>,
): Promise<SignedAuthorization[]> {
  const unsigned = authorizationList.filter((item) => !isSigned(item));
  const signatures = unsigned.length === 0 ? [] : await custody.sign(signer, unsigned.map(toSignable));
  return authorizationList.flatMap((item): SignedAuthorization[] => {
    if (isSigned(item)) return [item];
    const signature = signatures[unsigned.indexOf(item)];
    return signature ? [{ ...item, ...signature }] : [];
  });
}

function isSigned(item: Authorization | SignedAuthorization): item is SignedAuthorization {
  return 'r' in item;
}

function toSignable({ chainId, address, nonce }: Authorization): Signable {
  const target = rlpBytes(Buffer.from(address.slice(2), 'hex'));
  const bytes = Buffer.concat([MAGIC, rlpList([rlpInteger(chainId), target, rlpInteger(nonce)])]);
  return { kind: 'authorization', bytes, digest: parseHash(`0x${keccak256(bytes).toString('hex')}`) };
}
