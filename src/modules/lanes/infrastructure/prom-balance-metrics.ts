import { Injectable } from '@nestjs/common';
import { Gauge, Registry } from 'prom-client';
import { MetricsConfig } from '../../../config/lockstep-config.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import type { Funds } from '../../sending/index.js';
import { BalanceMetrics } from '../application/balance-metrics.js';

/** Without signer labels, sums of each chain. A gauge is a float, so wei above 2^53 are rounded. */
@Injectable()
export class PromBalanceMetrics extends BalanceMetrics {
  private readonly known = new Map<ChainId, readonly Funds[]>();
  private readonly balance: Gauge;
  private readonly missing: Gauge;

  constructor(
    registry: Registry,
    private readonly config: MetricsConfig,
  ) {
    super();
    const labelNames = config.signerLabels ? ['chain', 'signer'] : ['chain'];
    const registers = [registry];
    this.balance = new Gauge({
      name: 'signer_balance_wei',
      help: 'Balance of each signer of this node that has work',
      labelNames,
      registers,
    });
    this.missing = new Gauge({
      name: 'signer_balance_missing_wei',
      help: 'What the balance of each signer of this node lacks for its transactions in flight and in the queue',
      labelNames,
      registers,
    });
  }

  measured(chainId: ChainId, funds: readonly Funds[]): void {
    this.known.set(chainId, funds);
    this.balance.reset();
    this.missing.reset();
    for (const { signer, balance, missing } of [...this.known.values()].flat()) {
      const chain = String(signer.chainId);
      const labels = this.config.signerLabels ? { chain, signer: signer.address } : { chain };
      this.balance.inc(labels, Number(balance));
      this.missing.inc(labels, Number(missing));
    }
  }
}
