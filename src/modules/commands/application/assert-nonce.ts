import { Conflict } from '../../../kernel/errors.js';
import { toJsonInteger } from '../../../kernel/quantities.js';
import type { Nonce } from '../../../kernel/signer-id.js';

/**
 * A hold never has another nonce than its first.
 * @throws Conflict `other_nonce`
 */
export function assertNonce(
  { nonce, ...hold }: { readonly txId: string; readonly state: string; readonly nonce: Nonce | null },
  asked: Nonce,
): void {
  if (nonce === asked) return;
  throw new Conflict(
    'other_nonce',
    nonce === null ? 'the hold has no nonce' : `the hold has the nonce ${nonce}`,
    'use the nonce of the hold; repeat the request that reserved it to read it',
    { ...hold, nonce: nonce === null ? null : toJsonInteger(nonce) },
  );
}
