import { parseAddress } from '../../src/kernel/hex.js';
import { FOREIGN_DATA } from '../support/model-chain.js';
import type { SimChain } from './sim-chain.js';
import type { SlotRow, Snapshot, TxRow } from './snapshot.js';

/**
 * What the database says of the chain and a reorg has made untrue: transactions that ended by a block that is gone, and slots that are
 * called used and are free. After every reorg, however deep, nothing of this may be left in the end.
 */
export function untrue({ txs, slots }: Pick<Snapshot, 'txs' | 'slots'>, chain: SimChain): string[] {
  return [
    ...txs.filter((tx) => isTakenBack(tx, chain)).map(({ id, state }) => `${id} is ${state} by a block that is gone`),
    ...slots
      .filter((slot) => slot.status === 'CONSUMED' && !isUsed(slot, chain))
      .map(({ signer, nonce }) => `slot ${nonce} of ${signer} is CONSUMED, and the chain has not used it`),
  ];
}

/**
 * A free slot that somebody else used is forgotten when the cursor is aligned, before the next allocation on a new lease; so is one that was used
 * by what the database lost, when nothing waited that it could have been.
 */
export function isForeign({ signer, nonce }: SlotRow, chain: SimChain): boolean {
  const tx = chain.minedBy(parseAddress(signer), BigInt(nonce))?.tx;
  return tx !== undefined && (tx.data === FOREIGN_DATA || chain.lostBytes.has(tx.hash));
}

export function isUsed({ signer, nonce }: SlotRow, chain: SimChain): boolean {
  return chain.minedBy(parseAddress(signer), BigInt(nonce)) !== null;
}

function isTakenBack({ state, block, blockHash }: TxRow, chain: SimChain): boolean {
  return (state === 'CONFIRMED' || state === 'FAILED') && block !== null && !chain.has(blockHash ?? '');
}
