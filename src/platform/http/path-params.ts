import { type Caller, mayUse, mayUseChain } from '../../kernel/caller.js';
import { InvalidInput, NotFound } from '../../kernel/errors.js';
import { type ChainId, chainIdOf, type Nonce, type SignerId } from '../../kernel/signer-id.js';
import { unknownSigner } from '../../kernel/unknown-signer.js';
import { clientAddress } from './client-address.js';

type Limited = Pick<Caller, 'only'>;

/**
 * Reads a chain id from the path of a request.
 * @throws InvalidInput `invalid_chain_id`; NotFound `unknown_chain` for one that the caller may not use
 */
export function chainOfPath(text: string, caller: Limited): ChainId {
  const chainId = parseChainId(text);
  if (!mayUseChain(caller, chainId)) throw unknownChain(chainId);
  return chainId;
}

/**
 * Reads a signer from the path of a request.
 * @throws InvalidInput `invalid_chain_id`, and those of `clientAddress`; NotFound `unknown_signer` for one that the caller may not use
 */
export function signerOfPath(text: string, address: string, caller: Limited): SignerId {
  const chainId = parseChainId(text);
  const signer = { chainId, address: clientAddress(address, chainId) };
  if (!mayUse(caller, signer)) throw unknownSigner(signer);
  return signer;
}

/**
 * Reads a nonce from the path of a request.
 * @throws InvalidInput `invalid_nonce`
 */
export function nonceOfPath(text: string): Nonce {
  if (!/^(?:0|[1-9]\d{0,17})$/.test(text))
    throw new InvalidInput('invalid_nonce', 'not a nonce', 'send a decimal number of at most 18 digits');
  return BigInt(text);
}

export function unknownChain(chainId: ChainId): NotFound {
  const advice = 'GET /api/v1/chains lists the chains';
  return new NotFound('unknown_chain', `chain ${chainId} is not configured`, advice, { chainId });
}

function parseChainId(text: string): ChainId {
  const chainId = chainIdOf(text);
  if (chainId !== null) return chainId;
  throw new InvalidInput('invalid_chain_id', 'not a chain id', 'send the EIP-155 id of a configured chain');
}
