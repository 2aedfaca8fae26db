import type { CustodyEntry } from '../../custody/custody-entry.js';
import { CUSTODY_TYPES } from '../../custody/custody-types.js';
import { NODE_ERROR_CLASSES, type NodeErrorClass } from '../../kernel/node-error-class.js';
import { Choice, Count, Duration, Each, Section, SectionList, Text, TextList, Wei } from '../config-fields.js';
import { FINALITY_MODES, type FinalityMode } from './settlement-config.js';

/** `optimism`: chains of the OP stack, by their predeployed `GasPriceOracle`. */
export const L1_DATA_FEES = ['none', 'optimism'] as const;
export type L1DataFee = (typeof L1_DATA_FEES)[number];

export const BLOB_PROOFS = ['auto', 'blob', 'cell'] as const;
export type BlobProofs = (typeof BLOB_PROOFS)[number];

export class ChainConfirmationsConfig {
  /** Overrides `confirmations.finality` for this chain. */
  @Choice(FINALITY_MODES)
  finality?: FinalityMode;

  /** Overrides `confirmations.required` for this chain. */
  @Count({ max: 100_000 })
  required?: number;
}

/**
 * Lockstep signs no transaction of the chain above these prices, even if the request asks for more: an endpoint may report absurd fees. The
 * defaults are above every price seen on the large chains; raise them for chains whose coin is worth little.
 */
export class ChainFeesConfig {
  /** Wei per gas; 5,000 gwei. */
  @Wei()
  maxFeePerGas = 5_000_000_000_000n;

  /** Wei per gas; 500 gwei, the limit of geth's suggestions (`--gpo.maxprice`). */
  @Wei()
  maxPriorityFeePerGas = 500_000_000_000n;

  /** Wei per blob gas (EIP-4844); 5,000 gwei. */
  @Wei()
  maxFeePerBlobGas = 5_000_000_000_000n;

  /** Wei per gas: no quote has a lower tip. */
  @Wei()
  minPriorityFeePerGas?: bigint;
}

/** Patterns for error messages of a chain's nodes, for one class of node errors. */
export class ErrorPatternConfig {
  @Each('isPattern', 'must be a regular expression', compiles)
  @Text({ required: true })
  pattern = '';

  @Choice(NODE_ERROR_CLASSES, { required: true })
  class: NodeErrorClass = 'unknown';
}

/** A key without a default here has that of the chain's profile; see `chainInForce`. */
export class ChainConfig {
  /** EIP-155. */
  @Count({ max: Number.MAX_SAFE_INTEGER, required: true })
  id = 0;

  /** For people; shown by the API. */
  @Text()
  name?: string;

  @Each('isRpcUrl', 'must be http:// or https:// URLs', hasScheme('http:', 'https:'))
  @TextList({ required: true })
  rpcUrls: string[] = [];

  /** WebSocket URLs that announce new heads; without them heads are only polled. */
  @Each('isWsUrl', 'must be ws:// or wss:// URLs', hasScheme('ws:', 'wss:'))
  @TextList()
  wsUrls?: string[];

  /** Milliseconds. */
  @Duration()
  rpcTimeout = 10_000;

  /** Blocks that an endpoint may be behind the best head; beyond that, reads go to other endpoints if there are any. */
  @Count({ min: 0 })
  maxLag?: number;

  /** Milliseconds between two polls of the head. */
  @Duration()
  pollInterval?: number;

  /**
   * Proofs that travel with blobs: one for each `blob` (EIP-4844), one for each `cell` (EIP-7594, from the fork Osaka on), or `auto`: learnt
   * from refusals.
   */
  @Choice(BLOB_PROOFS)
  blobProofs: BlobProofs = 'auto';

  @Section(ChainConfirmationsConfig)
  confirmations?: ChainConfirmationsConfig;

  @Section(ChainFeesConfig)
  fees?: ChainFeesConfig;

  /** How the chain charges for the data of its transactions on its L1, which gas estimates do not have. */
  @Choice(L1_DATA_FEES)
  l1DataFee?: L1DataFee;

  /**
   * The most gas that a transaction may have (EIP-7825: 2^24 from Osaka on); 0 where there is no such limit. Unset, clients are not held to one,
   * and the margin of an estimate ends at 2^24, unless the estimate is above it.
   */
  @Count({ min: 0, max: Number.MAX_SAFE_INTEGER })
  transactionGasCap?: number;

  /** Wei. A signer whose balance falls below it has an event and a warning. */
  @Wei()
  lowBalance?: bigint;

  @SectionList(ErrorPatternConfig)
  errorPatterns: ErrorPatternConfig[] = [];

  @SectionList({ by: 'type', types: CUSTODY_TYPES })
  signers: CustodyEntry[] = [];
}

function compiles(pattern: string): boolean {
  try {
    new RegExp(pattern, 'i');
    return true;
  } catch {
    return false;
  }
}

function hasScheme(...schemes: readonly string[]): (text: string) => boolean {
  return (text) => URL.canParse(text) && schemes.includes(new URL(text).protocol);
}
