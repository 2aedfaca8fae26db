import { Injectable } from '@nestjs/common';
import { LockstepConfig } from '../../../config/lockstep-config.js';
import type { ChainId } from '../../../kernel/signer-id.js';

/** The most that Lockstep offers by itself on a chain, wei per gas; null for no limit. A client's own fees are its own. */
@Injectable()
export class ChainFeeCaps {
  constructor(private readonly config: LockstepConfig) {}

  of(chainId: ChainId): bigint | null {
    return this.config.chains.find((chain) => chain.id === chainId)?.fees?.maxFeePerGas ?? null;
  }
}
