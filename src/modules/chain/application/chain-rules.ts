import { Injectable } from '@nestjs/common';
import {
  ChainFeesConfig,
  ConfirmationsConfig,
  type FinalityMode,
  LockstepConfig,
} from '../../../config/lockstep-config.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import type { FeeCaps } from '../domain/fee-quote.js';

/** The configured rules of one chain, with defaults for what the config leaves out. */
@Injectable()
export class ChainRules {
  constructor(
    private readonly config: LockstepConfig,
    private readonly confirmations: ConfirmationsConfig,
  ) {}

  /** The highest fees that any transaction of the chain may offer, whether the client or Lockstep chose them. */
  feeCaps(chainId: ChainId): FeeCaps {
    return this.of(chainId)?.fees ?? new ChainFeesConfig();
  }

  /** Wei below which the balance of a signer is low; null when only a balance that does not cover its transactions is. */
  lowBalance(chainId: ChainId): bigint | null {
    return this.of(chainId)?.lowBalance ?? null;
  }

  finality(chainId: ChainId): FinalityMode {
    return this.of(chainId)?.confirmations?.finality ?? this.confirmations.finality;
  }

  /** Blocks on top of a transaction's block until the transaction is final. Used with finality `depth`. */
  requiredConfirmations(chainId: ChainId): number {
    return this.of(chainId)?.confirmations?.required ?? this.confirmations.required;
  }

  private of(chainId: ChainId): LockstepConfig['chains'][number] | undefined {
    return this.config.chains.find((chain) => chain.id === chainId);
  }
}
