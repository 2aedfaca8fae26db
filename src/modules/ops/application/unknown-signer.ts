import { NotFound } from '../../../kernel/errors.js';
import type { SignerId } from '../../../kernel/signer-id.js';

export function unknownSigner({ chainId, address }: SignerId): NotFound {
  return new NotFound(
    'unknown_signer',
    `no signer ${address} on chain ${chainId}`,
    'GET /api/v1/signers lists the signers',
    { chainId, address },
  );
}
