import { type AttemptFees, type ManagedTx, TRANSFER_GAS, type TxType } from '../../transactions/index.js';
import { parseHash, parseHex } from '../../../kernel/hex.js';
import { minOf } from '../../../kernel/quantities.js';
import type { SignerId } from '../../../kernel/signer-id.js';
import type { ChainConnector } from '../../chain/index.js';
import { MAX_TX_GAS } from '../domain/gas-margin.js';
import type { AttemptDraft } from './attempt-signer.js';

const NO_DATA = parseHex('0x');
/**
 * The versioned hash of a blob of zeros: a no-op that competes with a blob transaction must have a blob, too. Its commitment is the point at
 * infinity.
 */
const EMPTY_BLOB_HASH = parseHash('0x010657f37554c781402a22917dee2f75def7ab966d7b770905398eba3c444014');

/** A transaction that only consumes a nonce: 0 wei from the signer to itself. */
export function noOpDraft(
  tx: ManagedTx,
  fees: AttemptFees,
  pricedAtBlock: number,
  type: TxType,
  gasLimit: bigint = TRANSFER_GAS,
): AttemptDraft {
  const { signer, nonce, id: txId } = tx;
  return {
    signer,
    nonce,
    kind: tx.kind === 'fill' ? 'fill' : 'cancel',
    txId,
    to: signer.address,
    value: 0n,
    data: NO_DATA,
    accessList: [],
    gasLimit,
    fees,
    type,
    ...(type === 3 && { blobHashes: [EMPTY_BLOB_HASH] }),
    pricedAtBlock,
  };
}

/**
 * Gas of a no-op of each signer, in the given order. On chains that count the cost of L1 data as gas, the estimate is above that of a plain
 * transfer. An estimate above what any transaction may have is no reason to sign one that no node accepts.
 */
export async function noOpGas(chain: ChainConnector, signers: readonly SignerId[]): Promise<bigint[]> {
  const calls = signers.map(({ address }) => ({ from: address, to: address, value: 0n, data: NO_DATA }));
  const estimates = await chain.estimateGas(calls);
  return estimates.map((estimate) => (estimate.kind === 'ok' ? minOf(estimate.gas, MAX_TX_GAS) : TRANSFER_GAS));
}
