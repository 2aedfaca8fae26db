import type { Nonce } from '../../../kernel/signer-id.js';
import type { Books } from '../../ledger/index.js';

/** Blocks that tell a chain from another one with the same id. A wiped chain may begin with the same genesis, but not with the same next block. */
export const FIRST_BLOCKS = [0, 1] as const;

/** When this block is there, no reorg replaces {@link FIRST_BLOCKS} any more. The genesis is never replaced. */
export const SETTLED_BLOCK = 17;

/** Hashes by height; null for what was not told. */
export type FirstHashes = readonly (string | null)[];

/**
 * @param origin the first blocks of the chain on which nonces were used, as far as they are stored
 * @returns null when the chain does not tell what is stored
 */
export function isSameChain(origin: Books['origin'], told: FirstHashes): boolean | null {
  if (origin.length === 0) return true;
  const compared = origin.flatMap((hash, number) => (told[number] == null ? [] : [told[number] === hash]));
  return compared.length === 0 ? null : compared.every(Boolean);
}

/** What may be stored of the first blocks. @param told at {@link FIRST_BLOCKS} and at {@link SETTLED_BLOCK} */
export function originFrom([genesis = null, first = null, settled = null]: FirstHashes): string[] {
  if (genesis === null) return [];
  return first === null || settled === null ? [genesis] : [genesis, first];
}

/**
 * Whether one answer gives a reason to ask all endpoints: the chain used fewer nonces than the books say, or is another one, or was so at the
 * last look.
 */
export function isSuspect({ usedBelow, origin, behind }: Books, count: Nonce | null, told: FirstHashes): boolean {
  return behind !== null || (count !== null && count < usedBelow) || isSameChain(origin, told) === false;
}

/** `behind` and `even` need the evidence of `hold_signer`; until then it is `unknown`. */
export type Standing = 'even' | 'behind' | 'unknown';

/**
 * @param isLower what the endpoints agree on; null when it is not known
 * @param isSame whether they agree on the first blocks of our chain; null when it is not known
 */
export function standingOf(isLower: boolean | null, isSame: boolean | null): Standing {
  if (isSame === false || isLower === true) return 'behind';
  return isLower === null ? 'unknown' : 'even';
}
