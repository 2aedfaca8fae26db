import { parseHex } from '../../../kernel/hex.js';
import type { SignerId } from '../../../kernel/signer-id.js';
import type { ChainConnector } from '../../chain/index.js';
import type { SlotRef } from '../../signers/index.js';
import type { AttemptFees } from '../../transactions/index.js';
import type { AttemptDraft } from './attempt-signer.js';

/** A plain transfer on most chains; where the data costs of L1 count as gas, the estimate says more. */
const TRANSFER_GAS = 21_000n;
const NO_DATA = parseHex('0x');

/** Consumes a nonce and does nothing else: 0 wei to ourselves. */
export function noOpDraft(slot: SlotRef, fees: AttemptFees, gasLimit: bigint = TRANSFER_GAS): AttemptDraft {
  const { signer, nonce } = slot;
  return {
    signer,
    nonce,
    kind: 'fill',
    txId: null,
    to: signer.address,
    value: 0n,
    data: NO_DATA,
    accessList: [],
    gasLimit,
    fees,
  };
}

/** Gas of a no-op of each signer, in the order given. */
export async function noOpGas(chain: ChainConnector, signers: readonly SignerId[]): Promise<bigint[]> {
  const calls = signers.map(({ address }) => ({ from: address, to: address, value: 0n, data: NO_DATA }));
  const estimates = await chain.estimateGas(calls);
  return estimates.map((estimate) => (estimate.kind === 'ok' ? estimate.gas : TRANSFER_GAS));
}
