import { maxOf, minOf } from './quantities.js';

/** Gas of a plain transfer, and the least of any transaction. */
export const TRANSFER_GAS = 21_000n;

/** The state of the chain changes between estimate and execution. Gas that is not used costs nothing. */
const MARGIN_PERCENT = 125n;
/** EIP-7825, from the fork Osaka on. */
const CAP_OF_OSAKA = 1n << 24n;
/** No chain has blocks with more, and the database stores no more. */
export const MOST_GAS = (1n << 63n) - 1n;

/**
 * The gas limit for an estimate. The margin ends at what a transaction may have; an estimate above such a bound shows that the chain does not
 * have it.
 * @param blockGas gas of a block, as far as it is known
 * @param cap the most that the chain allows a transaction; 0 for no limit, undefined when it is not known
 */
export function withMargin(gas: bigint, blockGas: bigint | undefined, cap: bigint | undefined): bigint {
  const bounds = [cap ?? CAP_OF_OSAKA, blockGas ?? 0n].filter((bound) => gas <= bound);
  return [...bounds, MOST_GAS].reduce(minOf, (gas * MARGIN_PERCENT) / 100n);
}

/** What decides about the least gas of a transaction. */
export interface PricedParts {
  /** Null creates a contract. */
  readonly to: string | null;
  /** 0x and hex digits. */
  readonly data: string;
  readonly accessList: readonly { readonly storageKeys: readonly string[] }[];
  readonly authorizationList?: readonly unknown[];
}

/** EIP-2028. */
const GAS_OF_BYTE = 16n;
const GAS_OF_ZERO_BYTE = 4n;
const GAS_OF_CREATION = 32_000n;
/** EIP-3860, for each 32 bytes of init code. */
const GAS_OF_INIT_WORD = 2n;
/** EIP-2930. */
const GAS_OF_LISTED_ADDRESS = 2_400n;
const GAS_OF_LISTED_KEY = 1_900n;
/** EIP-7702. */
const GAS_OF_AUTHORIZATION = 25_000n;
/** EIP-7623: a zero byte is one token, another byte four. */
const GAS_OF_TOKEN = 10n;

/** A transaction with less gas is invalid, and is never mined. */
export interface LeastGas {
  /** Where a chain charges nothing for the bytes of call data. */
  readonly withoutData: bigint;
  /** Gas before anything is executed (yellow paper, g0; as geth computes it). */
  readonly intrinsic: bigint;
  /** The same from the fork Prague on: with what init code costs (EIP-3860), and with the floor of call data (EIP-7623). */
  readonly prague: bigint;
}

export function leastGas({ to, data, accessList, authorizationList = [] }: PricedParts): LeastGas {
  const { bytes, zeros } = countBytes(data);
  const keys = accessList.reduce((sum, { storageKeys }) => sum + storageKeys.length, 0);
  const withoutData =
    TRANSFER_GAS +
    (to === null ? GAS_OF_CREATION : 0n) +
    BigInt(accessList.length) * GAS_OF_LISTED_ADDRESS +
    BigInt(keys) * GAS_OF_LISTED_KEY +
    BigInt(authorizationList.length) * GAS_OF_AUTHORIZATION;
  const intrinsic = withoutData + zeros * GAS_OF_ZERO_BYTE + (bytes - zeros) * GAS_OF_BYTE;
  const initCode = to === null ? ((bytes + 31n) / 32n) * GAS_OF_INIT_WORD : 0n;
  const floor = TRANSFER_GAS + GAS_OF_TOKEN * (zeros + 4n * (bytes - zeros));
  return { withoutData, intrinsic, prague: maxOf(intrinsic + initCode, floor) };
}

function countBytes(data: string): { readonly bytes: bigint; readonly zeros: bigint } {
  let zeros = 0n;
  for (let at = 2; at < data.length; at += 2) if (data[at] === '0' && data[at + 1] === '0') zeros += 1n;
  return { bytes: BigInt((data.length - 2) / 2), zeros };
}

/** EIP-3860. Chains that allow larger contracts (EIP-170) have another limit, or none. */
export const MAX_INIT_CODE_BYTES = 49_152;
/** The pools of geth (`txMaxSize`), reth and others take no larger transaction without blobs. */
export const MAX_TX_BYTES = 131_072;

/** Type, list prefixes, chain id, nonce, fees, gas, receiver and signature, each at its shortest. */
const LEAST_FIXED_BYTES = 75;

/** Bytes that the signed transaction has at least. */
export function leastSize({ data, accessList }: Pick<PricedParts, 'data' | 'accessList'>): number {
  const listed = accessList.reduce((sum, { storageKeys }) => sum + 21 + 33 * storageKeys.length, 0);
  return LEAST_FIXED_BYTES + (data.length - 2) / 2 + listed;
}
