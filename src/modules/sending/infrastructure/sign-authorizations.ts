import { type Hash, parseHash } from '../../../kernel/hex.js';
import { rlpBytes, rlpInteger, rlpList } from '../../../kernel/rlp.js';
import { keccak256 } from '../../../platform/crypto/keccak256.js';
import type { Custody } from '../../signers/index.js';
import type { Authorization, SignedAuthorization } from '../../transactions/index.js';
import type { AttemptDraft } from '../application/attempt-signer.js';

/** EIP-7702: the first byte of what an authority signs. */
const MAGIC = Buffer.of(5);

/** The signer of a transaction signs its own authorizations. The others have signatures already. */
export async function signAuthorizations(
  custody: Custody,
  { signer, authorizationList = [] }: Pick<AttemptDraft, 'signer' | 'authorizationList'>,
): Promise<SignedAuthorization[]> {
  const unsigned = authorizationList.filter((item) => !isSigned(item));
  const signatures = unsigned.length === 0 ? [] : await custody.sign(signer, unsigned.map(digestOf));
  return authorizationList.flatMap((item): SignedAuthorization[] => {
    if (isSigned(item)) return [item];
    const signature = signatures[unsigned.indexOf(item)];
    return signature ? [{ ...item, ...signature }] : [];
  });
}

function isSigned(item: Authorization | SignedAuthorization): item is SignedAuthorization {
  return 'r' in item;
}

function digestOf({ chainId, address, nonce }: Authorization): Hash {
  const target = rlpBytes(Buffer.from(address.slice(2), 'hex'));
  const bytes = Buffer.concat([MAGIC, rlpList([rlpInteger(chainId), target, rlpInteger(nonce)])]);
  return parseHash(`0x${keccak256(bytes).toString('hex')}`);
}
