import type { Call } from './gas-estimate.js';

/** The parts of a call whose bytes a rollup writes to its L1, and its gas limit. */
export type DataOfCall = Pick<Call, 'data' | 'accessList'> & { readonly gas: bigint };

/** What one chain charges beside the price of the gas: for the data of transactions on its L1, by their size; and for its operator, by their gas. */
export abstract class L1DataFees {
  /** The most that each call costs in this way as of now, in wei, in the given order. @throws RpcUnavailable */
  abstract upperBounds(calls: readonly DataOfCall[]): Promise<bigint[]>;
}

/** A chain that charges for gas only. */
export class NoL1DataFees extends L1DataFees {
  async upperBounds(calls: readonly DataOfCall[]): Promise<bigint[]> {
    return calls.map(() => 0n);
  }
}

/** Everything but data and access list, each at its longest: type, list prefixes, chain id, nonce, fees, gas, receiver and value. */
const FIXED_BYTES = 180;
/** RLP: an address, or a storage key, with its prefix; and the prefixes of the two lists of an entry. */
const ADDRESS_BYTES = 21;
const KEY_BYTES = 33;
const ENTRY_PREFIX_BYTES = 10;

/** The most bytes that the unsigned transaction of a call can have. */
export function unsignedSize({ data, accessList = [] }: Pick<DataOfCall, 'data' | 'accessList'>): number {
  const entries = accessList.map(
    ({ storageKeys }) => ENTRY_PREFIX_BYTES + ADDRESS_BYTES + KEY_BYTES * storageKeys.length,
  );
  return FIXED_BYTES + (data.length - 2) / 2 + entries.reduce((sum, bytes) => sum + bytes, 0);
}
