import type { Nonce } from '../../../kernel/signer-id.js';

/** What a signer's sequence hands out next. */
export interface NonceGrant {
  /** Ascending; released slots first, then new ones from the cursor. */
  readonly nonces: readonly Nonce[];
  readonly cursor: Nonce;
}

/**
 * One signer's nonces: the cursor only moves forward, and a released slot is used again before a new one is opened,
 * lowest first, because everything behind a hole waits for it.
 */
export function grantNonces(cursor: Nonce, released: readonly Nonce[], count: number): NonceGrant {
  const reused = [...released].sort((a, b) => (a < b ? -1 : 1)).slice(0, count);
  const fresh = Array.from({ length: count - reused.length }, (_, index) => cursor + BigInt(index));
  return { nonces: [...reused, ...fresh], cursor: cursor + BigInt(fresh.length) };
}
