import { InvalidInput } from '../../../../kernel/errors.js';
import { type Address, parseHex } from '../../../../kernel/hex.js';
import { parseQuantity } from '../../../../kernel/quantities.js';
import type { SignerId } from '../../../../kernel/signer-id.js';
import { clientAddress } from '../../../../platform/http/client-address.js';
import type { TxPayload } from '../../../ledger/index.js';
import type { AuthorizationDto } from './create-tx.dto.js';

/** EIP-7702: the nonce of an account is below this, or its authorization is ignored. */
const MAX_NONCE = (1n << 64n) - 2n;
/** EIP-2: half of the order of secp256k1. An authorization with a higher s is ignored by the chain. */
const MAX_S = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/**
 * Refuses what the chain would ignore: such a transaction is mined, and delegates nothing.
 * @throws InvalidInput `invalid_authorization`
 */
export function toAuthorizations(
  items: readonly AuthorizationDto[],
  sender: SignerId,
): Required<TxPayload>['authorizationList'] {
  if (items.length === 0) throw invalid('payload.authorizationList is empty', 'leave it out, or add an authorization');
  const authorizations = items.map((item) => toAuthorization(item, sender));
  const signers = items.flatMap(({ signer }) => (signer == null ? [] : [signer.toLowerCase()]));
  if (new Set(signers).size < signers.length)
    throw invalid('payload.authorizationList names a signer twice', 'send one authorization for each account');
  return authorizations;
}

function toAuthorization(item: AuthorizationDto, sender: SignerId) {
  const chainId = item.chainId == null ? BigInt(sender.chainId) : parseQuantity(item.chainId);
  if (chainId !== 0n && chainId !== BigInt(sender.chainId))
    throw invalid(
      `an authorization is for chain ${chainId}, and the transaction for chain ${sender.chainId}`,
      'sign it for the chain of the transaction, or for chain 0',
    );
  const target = { chainId, address: clientAddress(item.address, sender.chainId) };
  return item.signer == null
    ? { ...target, ...signatureOf(item) }
    : { ...target, ...signerOf(item, item.signer, sender) };
}

/** Whether Lockstep knows another signer is decided when the request is stored. */
function signerOf(
  item: AuthorizationDto,
  name: string,
  sender: SignerId,
): { readonly signer: Address } | { readonly authority: Address } {
  const address = clientAddress(name, sender.chainId);
  if ([item.nonce, item.yParity, item.r, item.s].some((given) => given != null))
    throw invalid('an authorization has both signer and a signature', 'send signer alone, or nonce, yParity, r and s');
  return address === sender.address ? { signer: address } : { authority: address };
}

function signatureOf({ nonce, yParity, r, s }: AuthorizationDto) {
  if (nonce == null || yParity == null || r == null || s == null)
    throw invalid('an authorization has no signature', 'send nonce, yParity, r and s, or the name of the signer');
  if (BigInt(parseHex(s)) > MAX_S) throw invalid('s of an authorization is not in its lower half', 'use the other s');
  return { nonce: parseQuantity(nonce, MAX_NONCE), yParity, r: parseHex(r), s: parseHex(s) };
}

function invalid(problem: string, advice: string): InvalidInput {
  return new InvalidInput('invalid_authorization', problem, advice);
}
