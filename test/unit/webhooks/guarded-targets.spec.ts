import { describe, expect, it } from '@jest/globals';
import { InvalidInput } from '../../../src/kernel/errors.js';
import { guardedTargets } from './sender-lab.js';

/** Why a URL is refused; null when it is not. */
function problem(url: string, allow: readonly string[] = []): string | null {
  try {
    guardedTargets(allow).checkedUrl(url);
    return null;
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    expect(error.code).toBe('invalid_webhook_url');
    expect(error.advice).not.toBe('');
    return error.message.replace('the URL of a webhook is not usable: ', '');
  }
}

describe('the URL of a webhook', () => {
  it.each([
    ['https://hooks.example/a?b=c', 'https://hooks.example/a?b=c'],
    ['HTTPS://Hooks.Example:443', 'https://hooks.example/'],
    ['https://hök.example:8443/ä', 'https://xn--hk-fka.example:8443/%C3%A4'],
    ['https://8.8.8.8/', 'https://8.8.8.8/'],
    ['https://[2606:4700::1111]/', 'https://[2606:4700::1111]/'],
  ])('may be %s, and becomes canonical', (url, href) => {
    expect(guardedTargets().checkedUrl(url).href).toBe(href);
  });

  it.each([
    ['', 'it is not an absolute URL'],
    ['hooks.example/a', 'it is not an absolute URL'],
    ['/a', 'it is not an absolute URL'],
    ['https://', 'it is not an absolute URL'],
    ['https://a b/', 'it is not an absolute URL'],
    ['ftp://hooks.example/', 'it begins with ftp:'],
    ['file:///etc/passwd', 'it begins with file:'],
    ['javascript:alert(1)', 'it begins with javascript:'],
    ['https://user@hooks.example/', 'it has a user or a password'],
    ['https://:secret@hooks.example/', 'it has a user or a password'],
    ['https://hooks.example/#a', 'it has a fragment (#…)'],
    ['https://hooks.example/#', 'it has a fragment (#…)'],
    ['https:\\\\10.0.0.1\\a', '10.0.0.1 is a private address'],
    ['https:10.0.0.1', '10.0.0.1 is a private address'],
    ['https://1.1.1.1@10.0.0.1/', 'it has a user or a password'],
  ])('is not %p', (url, words) => {
    expect(problem(url)).toBe(words);
  });

  it('has at most 2,000 characters, also in its canonical form', () => {
    const long = (letter: string, length: number): string => `https://hooks.example/${letter.repeat(length - 22)}`;
    expect(problem(long('a', 2_000))).toBeNull();
    expect(problem(long('a', 2_001))).toBe('it has more than 2,000 characters');
    expect(problem(long('ä', 400))).toBe('it has more than 2,000 characters');
  });

  it.each([
    ['http://hooks.example/', [], false],
    ['http://8.8.8.8/', [], false],
    ['http://8.8.8.8/', ['10.0.0.0/8'], false],
    ['http://8.8.8.8/', ['8.8.8.8'], true],
    ['http://10.0.0.1/', ['10.0.0.0/8'], true],
    ['http://[fd00::1]/', ['fd00::/8'], true],
    ['http://localhost:3000/', ['localhost'], true],
    ['http://localhost./', ['localhost'], true],
    ['http://hooks.example/', ['localhost'], false],
    // The name may mean such an address; the connection decides.
    ['http://hooks.example/', ['10.0.0.0/8'], true],
  ])('%s is possible over plain http with webhooks.allow of %j: %p', (url, allow, isPossible) => {
    expect(problem(url, allow)).toBe(isPossible ? null : 'plain http goes only to targets in webhooks.allow');
  });
});
