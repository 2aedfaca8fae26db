import { InvalidInput } from '../../../../kernel/errors.js';

const MAX_LENGTH = 2_000;

/**
 * Parses what the URL of a webhook may look like, whatever its host means.
 * @throws InvalidInput `invalid_webhook_url`
 */
export function webhookUrl(text: string): URL {
  const url = absolute(text);
  if (url.username !== '' || url.password !== '') {
    throw invalidUrl('it has a user or a password', 'leave them out and check the signature of what arrives');
  }
  // Not `url.hash`, which is empty for a bare `#`.
  if (text.includes('#')) throw invalidUrl('it has a fragment (#…)', 'leave it out: a fragment is never sent');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw invalidUrl(`it begins with ${url.protocol}`, 'use https://');
  }
  return url;
}

export function invalidUrl(problem: string, advice: string): InvalidInput {
  return new InvalidInput('invalid_webhook_url', `the URL of a webhook is not usable: ${problem}`, advice);
}

function absolute(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null) {
    throw invalidUrl('it is not an absolute URL', 'write it with scheme and host: https://example.com/hook');
  }
  // The canonical form may be longer: it writes other scripts in ASCII.
  if (Math.max(text.length, url.href.length) > MAX_LENGTH) {
    throw invalidUrl('it has more than 2,000 characters', 'shorten it');
  }
  return url;
}
