import { NotFound } from './errors.js';
import type { Address } from './hex.js';
import type { ChainId } from './signer-id.js';

interface Wanted {
  /** Null for any chain. */
  readonly chainId: ChainId | null;
  /** Null for any address. */
  readonly address: Address | null;
}

export function unknownSigner({ chainId, address }: Wanted): NotFound {
  const what = address === null ? 'no signer' : `no signer ${address}`;
  return new NotFound(
    'unknown_signer',
    chainId === null ? what : `${what} on chain ${chainId}`,
    'GET /api/v1/signers lists the signers',
    { chainId, address },
  );
}
