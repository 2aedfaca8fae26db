import { Injectable } from '@nestjs/common';
import { WorkerConfig } from '../../../config/lockstep-config.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { SerialWorkers } from '../../../platform/scheduling/serial-workers.js';

/**
 * One thing at a time per signer, many signers side by side. Every chain has workers of its own, so that a hung RPC of one
 * chain does not slow another.
 */
@Injectable()
export class SignerWorkers {
  private readonly chains = new Map<ChainId, SerialWorkers>();

  constructor(private readonly config: WorkerConfig) {}

  forChain(chainId: ChainId): SerialWorkers {
    const known = this.chains.get(chainId);
    if (known) return known;
    const workers = new SerialWorkers(this.config.concurrency);
    this.chains.set(chainId, workers);
    return workers;
  }

  async idle(): Promise<void> {
    await Promise.all([...this.chains.values()].map((workers) => workers.idle()));
  }
}
