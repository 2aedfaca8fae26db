import type { Nonce } from '../../../kernel/signer-id.js';

/** The nonces that a signer gives out next. */
export interface NonceGrant {
  /** Ascending: released slots first, then new nonces from the cursor. */
  readonly nonces: readonly Nonce[];
  readonly cursor: Nonce;
}

/**
 * Picks the next nonces of one signer. The cursor only moves forward. A released slot is used before a new nonce, the lowest first, because
 * every transaction behind a nonce gap waits for it.
 */
export function grantNonces(cursor: Nonce, released: readonly Nonce[], count: number): NonceGrant {
  const reused = [...released].sort((a, b) => (a < b ? -1 : 1)).slice(0, count);
  const fresh = Array.from({ length: count - reused.length }, (_, index) => cursor + BigInt(index));
  return { nonces: [...reused, ...fresh], cursor: cursor + BigInt(fresh.length) };
}
