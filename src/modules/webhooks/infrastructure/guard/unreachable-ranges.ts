import ipaddr from 'ipaddr.js';

export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * Where clouds answer every machine of theirs with its credentials and settings: AWS, GCP, Azure and others (169.254.169.254), AWS's clock
 * and names, tasks of AWS ECS, pods of AWS EKS, Alibaba, Azure's agent (an address of the public range), Oracle, AWS and GCP over IPv6.
 */
const METADATA = new Set(
  [
    '169.254.169.254',
    '169.254.169.123',
    '169.254.169.253',
    '169.254.170.2',
    '169.254.170.23',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    'fd00:ec2::23',
    'fd00:ec2::123',
    'fd00:ec2::253',
    'fd00:ec2::254',
    'fd20:ce::254',
  ].map((address) => ipaddr.parse(address).toString()),
);

/** Names that ipaddr.js has for ranges, in words. */
const WORDS: Readonly<Record<string, string>> = {
  unspecified: 'an unspecified',
  loopback: 'a loopback',
  private: 'a private',
  linkLocal: 'a link-local',
  uniqueLocal: 'a unique-local',
  carrierGradeNat: 'a carrier-grade NAT',
  multicast: 'a multicast',
  broadcast: 'a broadcast',
  reserved: 'a reserved',
  benchmarking: 'a benchmarking',
  ipv4Mapped: 'an IPv4-mapped',
  rfc6145: 'an IPv4-translated',
  rfc6052: 'a NAT64',
  '6to4': 'a 6to4',
  teredo: 'a Teredo',
};

/** The only block of which IPv6 addresses of the internet are given out. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** Deprecated; ipaddr.js has no name for it. */
const IPV4_COMPATIBLE = ipaddr.IPv6.parseCIDR('::/96');

export function isMetadata(address: IpAddress): boolean {
  return METADATA.has(address.toString());
}

/**
 * What an address is, with its article (`a private address`), when it is not a globally routable unicast address; null when it is one. The
 * ranges are those of IANA's registries of special addresses. Addresses that embed an IPv4 address count as what they are, whatever they embed.
 */
export function unreachableKind(address: IpAddress): string | null {
  if (isMetadata(address)) return 'a metadata address';
  const range = address.range();
  if (range !== 'unicast') return `${WORDS[range] ?? 'a special-purpose'} address`;
  if (address.kind() === 'ipv4' || address.match(GLOBAL_IPV6)) return null;
  return address.match(IPV4_COMPATIBLE) ? 'an IPv4-compatible address' : 'an address outside of 2000::/3';
}
