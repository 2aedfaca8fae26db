import { type ChainId, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import type { SignerLease } from './signer-lease.js';

/** The leases of a node. Followers ask for those of one chain again and again, and pay for no others. */
export class LeasesByChain {
  private readonly chains = new Map<ChainId, Map<string, SignerLease>>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  get(signer: SignerId): SignerLease | undefined {
    return this.chains.get(signer.chainId)?.get(signerKey(signer));
  }

  on(chainId: ChainId): Iterable<SignerLease> {
    return this.chains.get(chainId)?.values() ?? [];
  }

  all(): SignerLease[] {
    return [...this.chains.values()].flatMap((leases) => [...leases.values()]);
  }

  put(held: SignerLease): void {
    const { chainId } = held.lease.signer;
    const leases = this.chains.get(chainId) ?? new Map<string, SignerLease>();
    if (!leases.has(held.key)) this.count += 1;
    this.chains.set(chainId, leases.set(held.key, held));
  }

  delete(signer: SignerId): void {
    if (this.chains.get(signer.chainId)?.delete(signerKey(signer))) this.count -= 1;
  }

  clear(): void {
    this.chains.clear();
    this.count = 0;
  }
}
