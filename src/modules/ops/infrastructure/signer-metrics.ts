import { Injectable } from '@nestjs/common';
import { Gauge, Registry } from 'prom-client';
import { MetricsConfig } from '../../../config/lockstep-config.js';
import { SignerOverview } from '../application/signer-overview.js';

/** Above it the labels would be the bigger load; the totals by chain stay right for the signers that are read. */
const MOST_SIGNERS = 1_000;

/** Read when Prometheus asks, so that nobody pays when it does not. */
@Injectable()
export class SignerMetrics {
  constructor(registry: Registry, overview: SignerOverview, config: MetricsConfig) {
    const labelNames = config.signerLabels ? ['chain', 'signer'] : ['chain'];
    const registers = [registry];
    const cursor = new Gauge({
      name: 'signer_nonce',
      help: 'Nonce cursor',
      labelNames: [...labelNames, 'kind'],
      registers,
    });

    new Gauge({
      name: 'signer_backlog',
      help: 'Transactions that wait for a nonce or a block',
      labelNames,
      registers,
      async collect() {
        this.reset();
        cursor.reset();
        for (const signer of await overview.list(null, MOST_SIGNERS)) {
          const chain = String(signer.chainId);
          this.inc(config.signerLabels ? { chain, signer: signer.address } : { chain }, signer.backlog);
          if (config.signerLabels && signer.cursor !== null) {
            cursor.set({ chain, signer: signer.address, kind: 'cursor' }, Number(signer.cursor));
          }
        }
      },
    });
  }
}
