import { describe, expect, it } from '@jest/globals';
import { TargetGuard } from '../../../src/modules/webhooks/infrastructure/guard/target-guard.js';
import { webhooksConfig } from './sender-lab.js';

const NAME = 'hooks.internal';

function passes(address: string, allow: readonly string[], protocol = 'https:', host = NAME): boolean {
  return new TargetGuard(webhooksConfig({ allow })).refusal(address, host, protocol) === null;
}

describe('webhooks.allow', () => {
  it.each([
    ['10.0.0.0/8', '10.255.255.255', true],
    ['10.0.0.0/8', '11.0.0.0', true],
    ['10.0.0.0/8', '172.16.0.1', false],
    ['10.1.2.3', '10.1.2.3', true],
    ['10.1.2.3', '10.1.2.4', false],
    ['fd00::/8', 'fd12::1', true],
    ['fd00::/8', 'fe80::1', false],
    ['127.0.0.0/8', '::1', false],
    ['127.0.0.0/8', '::ffff:127.0.0.1', false],
    ['10.0.0.0/8', '64:ff9b::a00:1', false],
    ['::ffff:127.0.0.0/104', '::ffff:127.0.0.1', true],
    ['0.0.0.0/0', '127.0.0.1', true],
    ['0.0.0.0/0', '::1', false],
    [NAME, '10.0.0.1', true],
    [NAME, '::1', true],
    ['other.internal', '10.0.0.1', false],
    ['internal', '10.0.0.1', false],
  ])('of %s: a socket for hooks.internal to %s is opened: %p', (entry, address, isOpened) => {
    expect(passes(address, [entry])).toBe(isOpened);
  });

  it.each([
    ['169.254.169.254', ['169.254.0.0/16'], false],
    ['169.254.169.254', ['0.0.0.0/0'], false],
    ['169.254.169.254', [NAME], false],
    ['100.100.100.200', ['100.64.0.0/10'], false],
    ['fd00:ec2::254', ['fd00::/8'], false],
    ['169.254.170.2', ['169.254.0.0/16'], false],
    ['169.254.170.23', ['169.254.0.0/16'], false],
    ['fd00:ec2::23', ['fd00::/8'], false],
    ['fd00:ec2:0:0:0:0:0:23', ['fd00:ec2::/32'], false],
    ['169.254.169.254', ['169.254.169.254'], true],
    ['169.254.169.254', [NAME, '169.254.169.254/32'], true],
    ['fd00:ec2::254', ['fd00:ec2::254'], true],
  ])('opens the metadata address %s by an entry of its own: %j, %p', (address, allow, isOpened) => {
    expect(passes(address, allow)).toBe(isOpened);
  });

  it.each([
    ['8.8.8.8', [], false],
    ['8.8.8.8', ['10.0.0.0/8'], false],
    ['8.8.8.8', ['8.8.8.0/24'], true],
    ['8.8.8.8', [NAME], true],
    ['10.0.0.1', ['10.0.0.0/8'], true],
  ])('opens %s to plain http: %j, %p', (address, allow, isOpened) => {
    expect(passes(address, allow, 'http:')).toBe(isOpened);
  });

  it('knows a name with a dot at its end', () => {
    expect(passes('10.0.0.1', [NAME], 'https:', `${NAME}.`)).toBe(true);
  });
});
