import { lookup, Resolver } from 'node:dns/promises';
import { Injectable } from '@nestjs/common';
import { codeOf } from '../../../../kernel/error-code.js';

/** Finds the addresses of host names. */
export abstract class NameResolver {
  /**
   * All addresses, IPv6 first.
   * @param isListed whether the operator listed the name in `webhooks.allow`
   * @throws NameUnresolved
   */
  abstract addressesOf(name: string, isListed: boolean): Promise<readonly string[]>;
}

/** A name without an address, or without an answer. */
export class NameUnresolved extends Error {}

/** Up to six seconds for each name server: two, then four. */
const QUERY = { timeout: 2_000, tries: 2 };
/** The name does not exist, or has no address of this family. */
const NO_ADDRESS = new Set(['ENOTFOUND', 'ENODATA']);

/**
 * Names that the operator listed are looked up as the system does it, with the hosts file and search domains. All others are asked of the
 * name servers directly: a lookup by the system holds one of the few threads of libuv for as long as a name server takes, so a few names
 * whose servers do not answer would stop every other lookup of the process.
 */
@Injectable()
export class DnsResolver extends NameResolver {
  async addressesOf(name: string, isListed: boolean): Promise<readonly string[]> {
    // A new resolver each time, because it reads only once which name servers the system has.
    return isListed ? bySystem(name) : byServers(name, new Resolver(QUERY));
  }
}

async function bySystem(name: string): Promise<readonly string[]> {
  try {
    const found = await lookup(name, { all: true });
    return found.sort((a, b) => b.family - a.family).map(({ address }) => address);
  } catch (error) {
    throw unresolved(name, [error]);
  }
}

/** One family that answers is enough: there are name servers that answer for IPv4 only. */
export async function byServers(
  name: string,
  resolver: Pick<Resolver, 'resolve4' | 'resolve6'>,
): Promise<readonly string[]> {
  const answers = await Promise.allSettled([resolver.resolve6(name), resolver.resolve4(name)]);
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (found.length > 0) return found;
  const errors = answers.map((answer): unknown => (answer.status === 'rejected' ? answer.reason : null));
  throw unresolved(name, errors);
}

function unresolved(name: string, errors: readonly unknown[]): NameUnresolved {
  const codes = errors.map(codeOf).filter((code) => !NO_ADDRESS.has(code));
  const problem = codes.length === 0 ? 'has no address' : `could not be looked up (${codes[0]})`;
  return new NameUnresolved(`${name} ${problem}`);
}
