import type { ChainConfig, L1DataFee } from '../sections/chain-config.js';
import type { LockstepConfig } from '../lockstep-config.js';
import type { ConfirmationsConfig, FinalityMode } from '../sections/settlement-config.js';
import type { ChainProfile, FeeType, Sourced } from './chain-profile.js';
import { KNOWN_CHAINS } from './known-chains.js';

export const ORIGINS = ['config', 'profile', 'probed', 'default'] as const;

/** A value in force, and where it comes from. */
export interface InForce<T> {
  readonly value: T;
  readonly from: (typeof ORIGINS)[number];
  /** Of a profile: where the value was read, or why it was chosen. */
  readonly source: string | null;
}

/** What an endpoint shows of its chain, and no key of the config says. */
export interface ProbedFacts {
  /** Null when the chain is too young to tell. */
  readonly blockTimeMs: number | null;
  readonly feeType: FeeType;
}

export interface ChainInForce {
  readonly name: InForce<string | null>;
  readonly nativeSymbol: InForce<string | null>;
  readonly explorer: InForce<string | null>;
  readonly blockTimeMs: InForce<number | null>;
  /** Milliseconds. */
  readonly pollInterval: InForce<number>;
  readonly maxLag: InForce<number>;
  readonly finality: InForce<FinalityMode>;
  /** Blocks on top that make a transaction final, with finality `depth`. */
  readonly confirmations: InForce<number>;
  /** Wei per gas. */
  readonly minPriorityFeePerGas: InForce<bigint>;
  readonly feeType: InForce<FeeType | null>;
  readonly l1DataFee: InForce<L1DataFee>;
  /** 0 for no such cap, null when it is not known. */
  readonly transactionGasCap: InForce<number | null>;
  /** What a signer may have in flight at first, before more or less is learnt. */
  readonly inFlightStart: InForce<number>;
  readonly blobs: InForce<boolean | null>;
  readonly authorizations: InForce<boolean | null>;
}

/**
 * geth accepts no smaller tip by default (`--miner.gasprice`, 0.001 gwei since 1.14). Tips are higher on every chain where blocks are
 * full, and on a chain where tips are 0 this tip costs almost nothing.
 */
export const MIN_TIP_WEI_PER_GAS = 1_000_000n;
/** geth guarantees an account 16, and keeps 64 behind a gap (`--txpool.accountslots`, `--txpool.accountqueue`). */
export const IN_FLIGHT_START = 64;
const CONFIRMATIONS = 20;
const POLL_INTERVAL_MS = 1_000;
const MAX_LAG_BLOCKS = 5;
const MAX_LAG_MS = 10_000;

/** Sections of the config that hold for every chain. */
type OfAllChains = Pick<LockstepConfig, 'confirmations' | 'execution'>;

/** The config wins over the profile, the profile over what was probed, and that over the default, key by key. */
export function chainInForce(chain: ChainConfig, all: OfAllChains, probed?: ProbedFacts | null): ChainInForce {
  const profile = KNOWN_CHAINS.find(({ id }) => id === chain.id);
  return {
    name: inForce<string | null>(chain.name, profile?.name, null),
    nativeSymbol: inForce<string | null>(undefined, profile?.nativeSymbol, null),
    explorer: inForce<string | null>(undefined, profile?.explorer, null),
    blockTimeMs: orProbed(profile?.blockTimeMs, probed?.blockTimeMs),
    pollInterval: inForce(chain.pollInterval, derived(profile, pollIntervalOf, 'half a block'), POLL_INTERVAL_MS),
    maxLag: inForce(chain.maxLag, derived(profile, maxLagOf, '10 s of blocks, at least 5'), MAX_LAG_BLOCKS),
    ...finalityOf(chain, all.confirmations, profile),
    minPriorityFeePerGas: inForce(chain.fees?.minPriorityFeePerGas, profile?.minPriorityFeePerGas, MIN_TIP_WEI_PER_GAS),
    feeType: orProbed(profile?.feeType, probed?.feeType),
    l1DataFee: inForce(chain.l1DataFee, profile?.l1DataFee, 'none'),
    transactionGasCap: inForce<number | null>(chain.transactionGasCap, profile?.transactionGasCap, null),
    inFlightStart: inForce(all.execution.inFlightStart, profile?.inFlightStart, IN_FLIGHT_START),
    blobs: inForce<boolean | null>(undefined, profile?.blobs, null),
    authorizations: inForce<boolean | null>(undefined, profile?.authorizations, null),
  };
}

/** Half a block, but not so often that a fast chain is nothing but polls, nor so rarely that a slow one is followed late. */
export function pollIntervalOf(blockTimeMs: number): number {
  return Math.min(3_000, Math.max(500, Math.round(blockTimeMs / 2)));
}

/** Endpoints of a fast chain are easily some blocks apart. */
export function maxLagOf(blockTimeMs: number): number {
  return Math.max(MAX_LAG_BLOCKS, Math.ceil(MAX_LAG_MS / Math.max(1, blockTimeMs)));
}

/** A number of blocks without a finality, in the config, is a depth: whoever wrote it does not want the tag of a profile. */
function finalityOf(
  { confirmations: own }: ChainConfig,
  all: ConfirmationsConfig,
  profile: ChainProfile | undefined,
): Pick<ChainInForce, 'finality' | 'confirmations'> {
  const required = own?.required ?? all.required;
  const given = own?.finality ?? all.finality ?? (required === undefined ? undefined : 'depth');
  const [known, source = ''] = profile?.finality ?? [];
  const [mode, depth]: [FinalityMode | undefined, number | undefined] =
    typeof known === 'number' ? ['depth', known] : [known, undefined];
  return {
    finality: inForce<FinalityMode>(given, mode === undefined ? undefined : [mode, source], 'depth'),
    confirmations: inForce(required, depth === undefined ? undefined : [depth, source], CONFIRMATIONS),
  };
}

function inForce<T>(given: T | undefined, known: Sourced<T> | undefined, fallback: T): InForce<T> {
  if (given !== undefined) return { value: given, from: 'config', source: null };
  if (known !== undefined) return { value: known[0], from: 'profile', source: known[1] };
  return { value: fallback, from: 'default', source: null };
}

function orProbed<T>(known: Sourced<T> | undefined, probed: T | null | undefined): InForce<T | null> {
  if (known === undefined && probed !== undefined) return { value: probed, from: 'probed', source: null };
  return inForce<T | null>(undefined, known, null);
}

function derived(
  profile: ChainProfile | undefined,
  from: (blockTimeMs: number) => number,
  words: string,
): Sourced<number> | undefined {
  return profile && [from(profile.blockTimeMs[0]), `${words}; ${profile.blockTimeMs[1]}`];
}
