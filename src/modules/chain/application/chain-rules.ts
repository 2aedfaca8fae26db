import { Injectable } from '@nestjs/common';
import {
  ChainFeesConfig,
  ConfirmationsConfig,
  type FinalityMode,
  LockstepConfig,
} from '../../../config/lockstep-config.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import type { FeeCaps } from '../domain/fee-caps.js';

/** What the config says about one chain, with the defaults where it says nothing. */
@Injectable()
export class ChainRules {
  constructor(
    private readonly config: LockstepConfig,
    private readonly confirmations: ConfirmationsConfig,
  ) {}

  /** The most that any transaction of the chain may offer, whoever chose its fees. */
  feeCaps(chainId: ChainId): FeeCaps {
    return this.of(chainId)?.fees ?? new ChainFeesConfig();
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
