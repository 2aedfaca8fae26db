import { isIP } from 'node:net';
import { Injectable } from '@nestjs/common';
import ipaddr from 'ipaddr.js';
import { type AllowedTarget, WebhooksConfig } from '../../../../config/index.js';
import { type IpAddress, isMetadata, unreachableKind } from './unreachable-ranges.js';

/** Decides which addresses webhooks may be sent to: those of the public internet, and what `webhooks.allow` lists. */
@Injectable()
export class TargetGuard {
  private readonly names: ReadonlySet<string>;
  private readonly ranges: readonly Extract<AllowedTarget, { kind: 'range' }>[];

  constructor({ allow }: WebhooksConfig) {
    this.names = new Set(allow.flatMap((target) => (target.kind === 'name' ? [target.name] : [])));
    this.ranges = allow.filter((target) => target.kind === 'range');
  }

  /** Whether the operator listed the name itself. `host` as a URL has it. */
  listsName(host: string): boolean {
    return this.names.has(host.replace(/\.$/, ''));
  }

  /** Whether plain http may be possible, as far as that is known before the name is looked up. */
  mayListAddressOf(host: string): boolean {
    return this.listsName(host) || (isIP(host) === 0 ? this.ranges.length > 0 : this.listsAddress(parsed(host), host));
  }

  /**
   * Why no socket may be opened to this address: null when one may.
   * @param address as a URL or a resolver writes it
   * @param host the host of the URL that led to it
   */
  refusal(address: string, host: string, protocol: string): string | null {
    const ip = parsed(address);
    if (ip === null) return `${address} is not an IP address`;
    if (this.listsAddress(ip, host)) return null;
    const kind = unreachableKind(ip);
    if (kind !== null) return `${address} is ${kind}`;
    return protocol === 'https:' ? null : `${address} is not in webhooks.allow, so it needs https`;
  }

  /** A metadata address must be listed by itself: wide ranges and names are not meant to open it. */
  private listsAddress(address: IpAddress | null, host: string): boolean {
    if (address === null) return false;
    if (!isMetadata(address) && this.listsName(host)) return true;
    return this.ranges.some(
      ({ network, prefix }) => network.kind() === address.kind() && matches(address, network, prefix),
    );
  }
}

function matches(address: IpAddress, network: IpAddress, prefix: number): boolean {
  const isOneAddress = prefix === (network.kind() === 'ipv4' ? 32 : 128);
  return (isOneAddress || !isMetadata(address)) && address.match(network, prefix);
}

/** Null for what is no address in its plain form; addresses with a zone are of one link only. */
function parsed(address: string): IpAddress | null {
  return isIP(address) === 0 || address.includes('%') ? null : ipaddr.parse(address);
}
