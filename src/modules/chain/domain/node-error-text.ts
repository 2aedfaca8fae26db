/** Longer texts are cut: they are HTML pages or quoted payloads, and the error is in the first words. */
const MAX_TEXT_CHARS = 10_000;

/** What may be between two words of a phrase: nothing, a space, a hyphen, or a quote around one of the words. */
const BETWEEN = '[-`\'" ]{0,3}';
/** A number, an address or a hash, in parentheses or quotes or not. */
const NUMBER = '(?:[-`\'"( ]{0,3}\\d[\\w.,]{0,80}[)`\'"]?)?';

/**
 * Normalises a message: lower case, JSON escapes of a wrapper undone, constants (`NONCE_TOO_LOW`) split into words, single spaces,
 * straight quotes.
 */
export function normalErrorText(message: string): string {
  return message
    .slice(0, MAX_TEXT_CHARS)
    .toLowerCase()
    .replace(/\\+(["'/])/g, '$1')
    .replace(/\\+[nrt]/g, ' ')
    .replace(/[’‘]/g, "'")
    .replace(/[\s_]+/g, ' ')
    .trim();
}

/**
 * A phrase in all the spellings of clients: `nonce # too low` is found in "nonce too low", "nonce 3 too low",
 * `NonceTooLow`, `NONCE_TOO_LOW` and "nonce-too-low". A space in the source stands for {@link BETWEEN}, `#` for an
 * optional {@link NUMBER}; everything else is a regular expression over {@link normalErrorText}.
 */
export function words(source: string): RegExp {
  return new RegExp(source.replace(/ ?#/g, NUMBER).replaceAll(' ', BETWEEN));
}

/**
 * A phrase too short to be searched for inside other words: it must be the whole message, or a whole part of it between
 * a colon, quotes or brackets, on either side (`INTERNAL_ERROR: mined`, `{"message":"mined"}`).
 */
export function whole(phrase: string): RegExp {
  const spelled = words(phrase).source;
  return new RegExp(`(?:^|[\\]):="'\`>([{])\\s*(?:${spelled})\\s*(?:$|["'\`<()\\[\\]{},.!;])`);
}
