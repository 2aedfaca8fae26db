import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { parseTextList, Unreadable } from './value-parsers.js';

/** An entry of `webhooks.allow`: a range of addresses (one address is a range of one), or a host name in lower case. */
export type AllowedTarget =
  | { readonly kind: 'range'; readonly network: ipaddr.IPv4 | ipaddr.IPv6; readonly prefix: number }
  | { readonly kind: 'name'; readonly name: string };

const NAME = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/;

export function parseAllowedTargets(raw: unknown): AllowedTarget[] {
  return parseTextList(raw).map(parseAllowedTarget);
}

function parseAllowedTarget(text: string, index: number): AllowedTarget {
  const [address = '', prefix, ...rest] = text.split('/');
  if (isIP(address) !== 0 && !address.includes('%') && rest.length === 0) return range(address, prefix, index);
  const name = canonicalName(text);
  if (name !== null) return { kind: 'name', name };
  throw new Unreadable(
    `must hold ranges (10.0.0.0/8, fd00::/8), addresses (10.1.2.3) and host names (hooks.internal), without scheme, port or path; ` +
      `entry ${index + 1} is none of these`,
  );
}

function range(address: string, prefixText: string | undefined, index: number): AllowedTarget {
  const network = ipaddr.parse(address);
  const bits = network.kind() === 'ipv4' ? 32 : 128;
  const prefix = prefixText === undefined ? bits : /^\d{1,3}$/.test(prefixText) ? Number(prefixText) : Infinity;
  if (prefix > bits) throw new Unreadable(`has a prefix in entry ${index + 1} that is not a number from 0 to ${bits}`);
  // `10.1.2.3/8` opens 16 million addresses, and whoever wrote it may have meant one.
  const first = firstOf(`${address}/${prefix}`, bits);
  if (first !== network.toString()) {
    throw new Unreadable(`has an address with bits behind its prefix in entry ${index + 1}: write ${first}/${prefix}`);
  }
  return { kind: 'range', network, prefix };
}

function firstOf(cidr: string, bits: number): string {
  return (bits === 32 ? ipaddr.IPv4 : ipaddr.IPv6).networkAddressFromCIDR(cidr).toString();
}

/** As URLs write the name, without the dot at its end; null for what is no name, such as other spellings of an address. */
function canonicalName(text: string): string | null {
  if (/[/\\:@?#\s]/.test(text) || !URL.canParse(`https://${text}/`)) return null;
  const name = new URL(`https://${text}/`).hostname.replace(/\.$/, '');
  return NAME.test(name) && isIP(name) === 0 ? name : null;
}
