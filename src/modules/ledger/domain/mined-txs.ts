import type { Hash } from '../../../kernel/hex.js';
import type { ChainId, SignerId } from '../../../kernel/signer-id.js';
import type { FinalHeights } from '../../chain/index.js';
import type { SlotRef } from '../../signers/index.js';
import type { ManagedTx } from './managed-tx.js';

/** Reads the txs that are in blocks, by their blocks. */
export abstract class MinedTxs {
  /** Whether the chain has MINED txs of any signer. */
  abstract anyMined(chainId: ChainId): Promise<boolean>;
  /** MINED txs of the signers that are deep enough, by the rule of the chain or by their own number; always in the same order. */
  abstract minedUpTo(
    chainId: ChainId,
    signers: readonly SignerId[],
    final: FinalHeights,
    page: { readonly skip: number; readonly limit: number },
  ): Promise<ManagedTx[]>;
  /** MINED txs of the signers in these blocks. */
  abstract minedIn(chainId: ChainId, signers: readonly SignerId[], blockHashes: readonly Hash[]): Promise<ManagedTx[]>;
  /**
   * Txs of any signer that became final in these blocks.
   * @param lowest number of the lowest of these blocks; reads only what was mined from there on
   */
  abstract finalIn(chainId: ChainId, lowest: number, blockHashes: readonly Hash[]): Promise<ManagedTx[]>;
  /**
   * The newest txs that became final in a block, this many of each signer, by nonce.
   * @param below only signers of these slots, and lower nonces; null for every signer
   */
  abstract newestFinal(chainId: ChainId, below: readonly SlotRef[] | null, perSigner: number): Promise<ManagedTx[]>;
}
