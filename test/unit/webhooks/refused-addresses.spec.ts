import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from '@jest/globals';
import { guardedLookup } from '../../../src/modules/webhooks/infrastructure/guard/guarded-connector.js';
import { TargetGuard } from '../../../src/modules/webhooks/infrastructure/guard/target-guard.js';
import { FakeResolver, guardedSender, guardedTargets, shipment, webhooksConfig } from './sender-lab.js';

/** How a URL spells a host, which address that is, and what the address is. */
const REFUSED: readonly (readonly [spelling: string, address: string, kind: string])[] = [
  ['127.0.0.1', '127.0.0.1', 'a loopback'],
  ['127.1', '127.0.0.1', 'a loopback'],
  ['127.0.1', '127.0.0.1', 'a loopback'],
  ['127.0.0.1.', '127.0.0.1', 'a loopback'],
  ['2130706433', '127.0.0.1', 'a loopback'],
  ['017700000001', '127.0.0.1', 'a loopback'],
  ['0177.0.0.1', '127.0.0.1', 'a loopback'],
  ['0x7f000001', '127.0.0.1', 'a loopback'],
  ['0x7f.1', '127.0.0.1', 'a loopback'],
  ['0X7F.0.0x0.01', '127.0.0.1', 'a loopback'],
  ['127.255.255.254', '127.255.255.254', 'a loopback'],
  ['%31%32%37.0.0.1', '127.0.0.1', 'a loopback'],
  ['１２７.０.０.１', '127.0.0.1', 'a loopback'],
  ['127。0。0。1', '127.0.0.1', 'a loopback'],
  ['①②⑦.⓪.⓪.①', '127.0.0.1', 'a loopback'],
  ['[::1]', '::1', 'a loopback'],
  ['[0:0:0:0:0:0:0:1]', '::1', 'a loopback'],
  ['[0000::0001]', '::1', 'a loopback'],
  ['[::ffff:127.0.0.1]', '::ffff:7f00:1', 'an IPv4-mapped'],
  ['[::FFFF:7F00:1]', '::ffff:7f00:1', 'an IPv4-mapped'],
  ['[0:0:0:0:0:ffff:127.0.0.1]', '::ffff:7f00:1', 'an IPv4-mapped'],
  ['[::127.0.0.1]', '::7f00:1', 'an IPv4-compatible'],
  ['[::ffff:0:127.0.0.1]', '::ffff:0:7f00:1', 'an IPv4-translated'],
  ['[64:ff9b::127.0.0.1]', '64:ff9b::7f00:1', 'a NAT64'],
  ['[64:ff9b:1::7f00:1]', '64:ff9b:1::7f00:1', 'a NAT64'],
  ['[2002:7f00:1::]', '2002:7f00:1::', 'a 6to4'],
  ['[2001::80ff:fffe]', '2001::80ff:fffe', 'a Teredo'],
  ['0', '0.0.0.0', 'an unspecified'],
  ['0x0', '0.0.0.0', 'an unspecified'],
  ['0.0.0.0', '0.0.0.0', 'an unspecified'],
  ['0.1.2.3', '0.1.2.3', 'an unspecified'],
  ['[::]', '::', 'an unspecified'],
  ['10.0.0.1', '10.0.0.1', 'a private'],
  ['10.1', '10.0.0.1', 'a private'],
  ['167772161', '10.0.0.1', 'a private'],
  ['012.0.0.1', '10.0.0.1', 'a private'],
  ['0xa000001', '10.0.0.1', 'a private'],
  ['172.16.0.0', '172.16.0.0', 'a private'],
  ['172.31.255.255', '172.31.255.255', 'a private'],
  ['192.168.1', '192.168.0.1', 'a private'],
  ['3232235521', '192.168.0.1', 'a private'],
  ['0300.0250.0.1', '192.168.0.1', 'a private'],
  ['[::ffff:10.0.0.1]', '::ffff:a00:1', 'an IPv4-mapped'],
  ['[::192.168.0.1]', '::c0a8:1', 'an IPv4-compatible'],
  ['[64:ff9b::a00:1]', '64:ff9b::a00:1', 'a NAT64'],
  ['[2002:c0a8:1::1]', '2002:c0a8:1::1', 'a 6to4'],
  ['[fc00::1]', 'fc00::1', 'a unique-local'],
  ['[FD12:3456:789A::1]', 'fd12:3456:789a::1', 'a unique-local'],
  ['[fec0::1]', 'fec0::1', 'a special-purpose'],
  ['100.64.0.1', '100.64.0.1', 'a carrier-grade NAT'],
  ['100.127.255.255', '100.127.255.255', 'a carrier-grade NAT'],
  ['169.254.0.1', '169.254.0.1', 'a link-local'],
  ['[fe80::1]', 'fe80::1', 'a link-local'],
  ['[febf::1]', 'febf::1', 'a link-local'],
  ['169.254.169.254', '169.254.169.254', 'a metadata'],
  ['169.254.43518', '169.254.169.254', 'a metadata'],
  ['2852039166', '169.254.169.254', 'a metadata'],
  ['0xa9fea9fe', '169.254.169.254', 'a metadata'],
  ['0251.0376.0251.0376', '169.254.169.254', 'a metadata'],
  ['１６９.２５４.１６９.２５４', '169.254.169.254', 'a metadata'],
  ['[::ffff:169.254.169.254]', '::ffff:a9fe:a9fe', 'an IPv4-mapped'],
  ['[64:ff9b::169.254.169.254]', '64:ff9b::a9fe:a9fe', 'a NAT64'],
  ['169.254.170.2', '169.254.170.2', 'a metadata'],
  ['169.254.170.23', '169.254.170.23', 'a metadata'],
  ['169.254.43543', '169.254.170.23', 'a metadata'],
  ['[fd00:ec2::23]', 'fd00:ec2::23', 'a metadata'],
  ['[FD00:0EC2:0:0:0:0:0:0023]', 'fd00:ec2::23', 'a metadata'],
  ['100.100.100.200', '100.100.100.200', 'a metadata'],
  ['168.63.129.16', '168.63.129.16', 'a metadata'],
  ['192.0.0.192', '192.0.0.192', 'a metadata'],
  ['[fd00:ec2::254]', 'fd00:ec2::254', 'a metadata'],
  ['[fd20:ce::254]', 'fd20:ce::254', 'a metadata'],
  ['224.0.0.1', '224.0.0.1', 'a multicast'],
  ['239.255.255.255', '239.255.255.255', 'a multicast'],
  ['[ff02::1]', 'ff02::1', 'a multicast'],
  ['255.255.255.255', '255.255.255.255', 'a broadcast'],
  ['4294967295', '255.255.255.255', 'a broadcast'],
  ['240.0.0.1', '240.0.0.1', 'a reserved'],
  ['192.0.0.1', '192.0.0.1', 'a reserved'],
  ['192.0.2.1', '192.0.2.1', 'a reserved'],
  ['192.88.99.1', '192.88.99.1', 'a reserved'],
  ['198.18.0.1', '198.18.0.1', 'a reserved'],
  ['198.19.255.255', '198.19.255.255', 'a reserved'],
  ['198.51.100.1', '198.51.100.1', 'a reserved'],
  ['203.0.113.1', '203.0.113.1', 'a reserved'],
  ['[2001:db8::1]', '2001:db8::1', 'a reserved'],
  ['[3fff::1]', '3fff::1', 'a reserved'],
  ['[2001:2::1]', '2001:2::1', 'a benchmarking'],
  ['[100::1]', '100::1', 'a special-purpose'],
  ['[5f00::1]', '5f00::1', 'a special-purpose'],
];

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
].concat(
  ['128.0.0.0', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '192.167.255.255', '192.169.0.0'],
  [
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '2000::1',
    '2606:4700:4700::1111',
    '2a00:1450:4001::1',
    '3ffe::1',
  ],
);

const guard = new TargetGuard(webhooksConfig());

/** Looks up what the sockets of two connections would be connected to. */
function lookups(resolver: FakeResolver): () => Promise<unknown> {
  const lookup = promisify(guardedLookup(guard, resolver, 'https:'));
  return () => lookup('hooks.example', { all: true });
}

describe('no webhook is sent to', () => {
  const sender = guardedSender();
  afterAll(() => sender.onApplicationShutdown());

  it.each(REFUSED)(
    '%s, as %s is %s address, nor to a name that means it or comes to mean it',
    async (spelling, address, kind) => {
      const words = `${address} is ${kind} address`;

      expect(() => guardedTargets().checkedUrl(`https://${spelling}/`)).toThrow(words);
      const literal = await sender.send(shipment(`https://${spelling}/`));
      expect(literal).toMatchObject({ status: null, error: `address_refused: ${words}` });

      const byName = guardedSender({ resolver: new FakeResolver([address]) });
      expect(await byName.send(shipment('https://hooks.example/'))).toMatchObject({
        status: null,
        error: `address_refused: ${words}`,
      });
      await byName.onApplicationShutdown();

      const rebound = lookups(new FakeResolver(['93.184.215.14'], [address]));
      expect(await rebound()).toEqual([{ address: '93.184.215.14', family: 4 }]);
      await expect(rebound()).rejects.toThrow(words);
    },
  );

  it.each(['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', '127.0.0.1.hooks.example', 'xn--fiqs8s.example'])(
    '%s when it means 127.0.0.1',
    async (name) => {
      const named = guardedSender({ resolver: new FakeResolver(['127.0.0.1']) });
      const answer = await named.send(shipment(`https://${name}/`));
      expect(answer).toMatchObject({ status: null, error: 'address_refused: 127.0.0.1 is a loopback address' });
      await named.onApplicationShutdown();
    },
  );

  it.each(['fe80::1%eth0', '::1%lo', '1.1.1.1%0', '127.1', '0x7f.1', '', 'hooks.example'])(
    '%p as an address from a resolver',
    (address) => {
      expect(guard.refusal(address, 'hooks.example', 'https:')).toBe(`${address} is not an IP address`);
    },
  );

  it.each(['[fe80::1%25eth0]', '[::1%lo]', '127.0.0.256', '[::1', '256.1.1.1', '1.2.3.4.5'])(
    '%s, which is no host',
    (host) => {
      expect(() => guardedTargets().checkedUrl(`https://${host}/`)).toThrow('it is not an absolute URL');
    },
  );
});

describe('a webhook may be sent to', () => {
  it.each(PUBLIC)('%s', (address) => {
    expect(guard.refusal(address, 'hooks.example', 'https:')).toBeNull();
  });
});
