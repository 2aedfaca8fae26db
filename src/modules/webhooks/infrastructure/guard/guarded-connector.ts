import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import type { NameResolver } from './name-resolver.js';
import type { TargetGuard } from './target-guard.js';

/** The guard lets no socket be opened to the target. */
export class AddressRefused extends Error {}

/**
 * How long one address is tried before the next; of several, the last has the whole time. Node's own 250 ms are too short for other
 * continents.
 */
const ATTEMPT_MS = 1_000;

/**
 * Opens sockets to addresses that the guard lets pass. Names are looked up once for each socket, and the socket goes to the very addresses
 * that were checked: what the name means a moment later does not matter.
 */
export function guardedConnector(
  guard: TargetGuard,
  resolver: NameResolver,
  timeoutMs: number,
): buildConnector.connector {
  const connectorOf = (protocol: string): buildConnector.connector =>
    buildConnector({
      timeout: timeoutMs,
      lookup: guardedLookup(guard, resolver, protocol),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ATTEMPT_MS,
    });
  const [plain, secure] = [connectorOf('http:'), connectorOf('https:')];
  return (target, done) => {
    const { hostname, protocol } = target;
    // Node looks up no literal addresses.
    const refusal = isIP(hostname) === 0 ? null : guard.refusal(hostname, hostname, protocol);
    if (refusal !== null) done(new AddressRefused(refusal), null);
    else (protocol === 'https:' ? secure : plain)(target, done);
  };
}

/** For `net.connect`, which asks for all addresses (`autoSelectFamily`). */
export function guardedLookup(guard: TargetGuard, resolver: NameResolver, protocol: string): LookupFunction {
  return (name, _options, done) => {
    checkedAddresses(guard, resolver, protocol, name).then(
      (addresses) => done(null, addresses),
      (error: unknown) => done(error instanceof Error ? error : new Error(String(error)), []),
    );
  };
}

/** Returns the addresses of a name that pass; the others are as if they were not there. */
async function checkedAddresses(
  guard: TargetGuard,
  resolver: NameResolver,
  protocol: string,
  name: string,
): Promise<{ address: string; family: number }[]> {
  const addresses = await resolver.addressesOf(name, guard.listsName(name));
  const refusals = addresses.map((address) => guard.refusal(address, name, protocol));
  const passing = addresses.filter((_address, index) => refusals[index] === null);
  if (passing.length === 0) throw new AddressRefused(refusals[0] ?? `${name} has no address`);
  return passing.map((address) => ({ address, family: isIP(address) }));
}
