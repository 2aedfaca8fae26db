import { NotFound } from '../../../kernel/errors.js';
import type { PauseScope } from '../../signers/index.js';

export function unknownSigner({ chainId, address }: PauseScope): NotFound {
  const what = address === null ? 'no signer' : `no signer ${address}`;
  return new NotFound(
    'unknown_signer',
    chainId === null ? what : `${what} on chain ${chainId}`,
    'GET /api/v1/signers lists the signers',
    { chainId, address },
  );
}
