import { Injectable } from '@nestjs/common';
import {
  ChainConfig,
  ChainFeesConfig,
  type ChainInForce,
  chainInForce,
  type FinalityMode,
  LockstepConfig,
} from '../../../config/index.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import type { FeeCaps } from '../domain/fee-quote.js';

/** The rules of one chain: the config, the chain's profile for what that leaves out, and defaults. */
@Injectable()
export class ChainRules {
  private readonly known: ReadonlyMap<ChainId, ChainInForce>;

  constructor(private readonly config: LockstepConfig) {
    this.known = new Map(config.chains.map((chain) => [chain.id, chainInForce(chain, config)]));
  }

  /** The highest fees that any transaction of the chain may offer, whether the client or Lockstep chose them. */
  feeCaps(chainId: ChainId): FeeCaps {
    return this.of(chainId)?.fees ?? new ChainFeesConfig();
  }

  /** Wei below which the balance of a signer is low; null when only a balance that does not cover its transactions is. */
  lowBalance(chainId: ChainId): bigint | null {
    return this.of(chainId)?.lowBalance ?? null;
  }

  /** The most gas that a transaction of the chain may have; 0 for no such limit, undefined when it is not known. */
  transactionGasCap(chainId: ChainId): bigint | undefined {
    const cap = this.inForce(chainId).transactionGasCap.value;
    return cap === null ? undefined : BigInt(cap);
  }

  /** What a signer may have in flight at first. */
  inFlightStart(chainId: ChainId): number {
    return this.inForce(chainId).inFlightStart.value;
  }

  finality(chainId: ChainId): FinalityMode {
    return this.inForce(chainId).finality.value;
  }

  /** Blocks on top of a transaction's block until the transaction is final. Used with finality `depth`. */
  requiredConfirmations(chainId: ChainId): number {
    return this.inForce(chainId).confirmations.value;
  }

  private inForce(chainId: ChainId): ChainInForce {
    return this.known.get(chainId) ?? chainInForce(Object.assign(new ChainConfig(), { id: chainId }), this.config);
  }

  private of(chainId: ChainId): LockstepConfig['chains'][number] | undefined {
    return this.config.chains.find((chain) => chain.id === chainId);
  }
}
