/** A page of HTML or a quoted payload adds nothing to the first words. Characters. */
const LONGEST = 10_000;

/**
 * One spelling for the many ways a message arrives: lower case, JSON escapes of a wrapper undone, constants
 * (`NONCE_TOO_LOW`) read as words, single spaces, straight quotes.
 */
export function normalErrorText(message: string): string {
  return message
    .slice(0, LONGEST)
    .toLowerCase()
    .replace(/\\+(["'/])/g, '$1')
    .replace(/\\+[nrt]/g, ' ')
    .replace(/[’‘]/g, "'")
    .replace(/[\s_]+/g, ' ')
    .trim();
}

/**
 * A phrase too short to be searched for inside other words: it must be the whole message, or a whole part of it between
 * a colon, quotes or brackets, on either side (`INTERNAL_ERROR: mined`, `{"message":"mined"}`).
 */
export function whole(phrase: string): RegExp {
  return new RegExp(`(?:^|[\\]):="'\`>([{])\\s*${phrase}\\s*(?:$|["'\`<()\\[\\]{},.!;])`);
}
