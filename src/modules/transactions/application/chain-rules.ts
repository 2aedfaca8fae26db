import { Injectable } from '@nestjs/common';
import { ConfirmationsConfig, type FinalityMode, LockstepConfig } from '../../../config/lockstep-config.js';
import type { ChainId } from '../../../kernel/signer-id.js';

/** What the config says about one chain, with the defaults where it says nothing. */
@Injectable()
export class ChainRules {
  constructor(
    private readonly config: LockstepConfig,
    private readonly confirmations: ConfirmationsConfig,
  ) {}

  /** The most that Lockstep offers by itself, wei per gas; null for no limit. A client's own fees are its own. */
  feeCap(chainId: ChainId): bigint | null {
    return this.of(chainId)?.fees?.maxFeePerGas ?? null;
  }

  finality(chainId: ChainId): FinalityMode {
    return this.of(chainId)?.confirmations?.finality ?? this.confirmations.finality;
  }

  /** Blocks on top of a transaction's own until it is final; counts with finality `depth`. */
  requiredConfirmations(chainId: ChainId): number {
    return this.of(chainId)?.confirmations?.required ?? this.confirmations.required;
  }

  private of(chainId: ChainId): LockstepConfig['chains'][number] | undefined {
    return this.config.chains.find((chain) => chain.id === chainId);
  }
}
