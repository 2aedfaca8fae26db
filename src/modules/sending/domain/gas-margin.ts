import { minOf } from '../../../kernel/quantities.js';

/** The state of the chain changes between estimate and execution. Gas that is not used costs nothing. */
const GAS_MARGIN_PERCENT = 125n;
/** EIP-7825: no transaction may have more gas than 2^24. The margin never exceeds it. */
export const MAX_TX_GAS = 1n << 24n;

/** The gas limit for an estimate. */
export function withMargin(gas: bigint): bigint {
  const margin = (gas * GAS_MARGIN_PERCENT) / 100n;
  return gas >= MAX_TX_GAS ? gas : minOf(margin, MAX_TX_GAS);
}
