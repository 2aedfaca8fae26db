import { type Scope, SCOPES } from '../../../kernel/caller.js';

/** What a name in logs, tables and headers is made of: 255 characters (OpenID Connect), none of which steers a terminal or is half of one. */
const SUBJECT = /^[^\p{Cc}\p{Cs}]{1,255}$/u;

/** @returns null for what names nobody */
export function subjectOf(claim: unknown): string | null {
  return typeof claim === 'string' && SUBJECT.test(claim) ? claim : null;
}

/** Of a text with spaces between, as OAuth 2.0 has it, or of a list. What is no scope of ours is for others that take the token, too. */
export function scopesOf(claim: unknown): readonly Scope[] {
  const names: readonly unknown[] = typeof claim === 'string' ? claim.split(' ') : Array.isArray(claim) ? claim : [];
  return SCOPES.filter((scope) => names.includes(scope));
}
