import { parseAddress } from '../kernel/hex.js';
import { mapInTurns } from '../platform/scheduling/map-in-turns.js';
import type { CustodyKey, CustodyReference } from './custody-entry.js';
import { SECP256K1 } from './secp256k1.js';

/** A key in the memory of this process. For development, and where the environment keeps the config safe. */
export function localKey(account: { address: string; privateKey: string }, reference: CustodyReference): CustodyKey {
  return {
    address: parseAddress(account.address),
    reference,
    sign: (items) => mapInTurns(items, ({ digest }) => SECP256K1.sign(digest, account.privateKey)),
  };
}
