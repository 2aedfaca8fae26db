import { Injectable } from '@nestjs/common';
import { WorkerConfig } from '../../../config/lockstep-config.js';
import { type ChainId, signerKey } from '../../../kernel/signer-id.js';
import { SerialWorkers } from '../../../platform/scheduling/serial-workers.js';
import { Custody } from '../domain/custody.js';

/**
 * Runs one task at a time per signer, and many signers in parallel. Every chain has its own workers, so that a hung RPC of one chain does
 * not slow another chain, and so has every remote custody on it (docs/invariants.md, I14).
 */
@Injectable()
export class SignerWorkers {
  private readonly chains = new Map<ChainId, SerialWorkers>();

  constructor(
    private readonly config: WorkerConfig,
    private readonly custody: Custody,
  ) {}

  forChain(chainId: ChainId): SerialWorkers {
    const known = this.chains.get(chainId);
    if (known) return known;
    const signers = this.custody.signers().filter(({ signer }) => signer.chainId === chainId);
    const remote = new Map(signers.map((custodied) => [signerKey(custodied.signer), custodied.remote]));
    const workers = new SerialWorkers(this.config.concurrency, (key) => remote.get(key) ?? null);
    this.chains.set(chainId, workers);
    return workers;
  }

  async idle(): Promise<void> {
    await Promise.all([...this.chains.values()].map((workers) => workers.idle()));
  }
}
