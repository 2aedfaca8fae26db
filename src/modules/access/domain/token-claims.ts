import { type Scope, SCOPES } from '../../../kernel/caller.js';
import { type ChainId, chainIdOf, type SignerId, signerOfKey } from '../../../kernel/signer-id.js';

/** What a name in logs, tables and headers is made of: 255 characters (OpenID Connect), none of which steers a terminal or is half of one. */
const SUBJECT = /^[^\p{Cc}\p{Cs}]{1,255}$/u;

/** @returns null for what names nobody */
export function subjectOf(claim: unknown): string | null {
  return typeof claim === 'string' && SUBJECT.test(claim) ? claim : null;
}

/** Of a text with spaces between, as OAuth 2.0 has it, or of a list. What is no scope of ours is for others that take the token, too. */
export function scopesOf(claim: unknown): readonly Scope[] {
  const names = itemsOf(claim) ?? [];
  return SCOPES.filter((scope) => names.includes(scope));
}

/** The value of a claim of signers or of chains that limits nothing. */
export const ALL = '*';

/** Each as in `1:0x…`, of a text with spaces between or of a list. @returns null for anything else */
export function signersOf(claim: unknown): readonly SignerId[] | null {
  return eachOf(claim, (item) => (typeof item === 'string' ? signerOfKey(item) : null));
}

/** @returns null for anything else than a text with spaces between or a list */
export function chainsOf(claim: unknown): readonly ChainId[] | null {
  return eachOf(claim, (item) => chainIdOf(String(item)));
}

function eachOf<T>(claim: unknown, read: (item: unknown) => T | null): readonly T[] | null {
  const items = itemsOf(typeof claim === 'number' ? [claim] : claim)?.map(read) ?? null;
  return items?.every((item) => item !== null) ? items : null;
}

function itemsOf(claim: unknown): readonly unknown[] | null {
  return typeof claim === 'string' ? claim.split(' ') : Array.isArray(claim) ? claim : null;
}
