import type { ChainId } from '../../../kernel/signer-id.js';
import type { Funds } from '../../sending/index.js';

/** Balances of the signers of this node that have work, for `/metrics`. */
export abstract class BalanceMetrics {
  /** Replaces what was shown of the chain. */
  abstract measured(chainId: ChainId, funds: readonly Funds[]): void;
}
