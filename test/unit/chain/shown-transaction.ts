import { type SigningKey, Transaction, computeAddress, toQuantity } from 'ethers';
import { anAddress, DEV_CHAIN } from '../../support/builders.js';

/** As a node shows it, in a block or in its pool. */
export function shownTransaction(nonce: number, key: SigningKey): Record<string, unknown> {
  const amounts = { type: 2, chainId: DEV_CHAIN, nonce, value: 0, maxFeePerGas: 2, maxPriorityFeePerGas: 1 };
  const tx = Transaction.from({ ...amounts, gasLimit: 21_000, to: anAddress(2) });
  const { r, s, yParity } = (tx.signature = key.sign(tx.unsignedHash));
  const quantities = Object.entries({ ...amounts, gas: 21_000, r: BigInt(r), s: BigInt(s), yParity });
  const shown = Object.fromEntries(quantities.map(([name, amount]) => [name, toQuantity(amount)]));
  return { ...shown, from: computeAddress(key).toLowerCase(), hash: tx.hash, to: anAddress(2), input: '0x' };
}
