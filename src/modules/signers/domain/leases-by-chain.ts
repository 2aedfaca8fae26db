import { type ChainId, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import type { SignerLease } from './signer-lease.js';

/** The leases of a node by chain, because most readers ask for those of one chain, and often. */
export class LeasesByChain {
  private readonly byChain = new Map<ChainId, Map<string, SignerLease>>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  get(signer: SignerId): SignerLease | undefined {
    return this.byChain.get(signer.chainId)?.get(signerKey(signer));
  }

  on(chainId: ChainId): Iterable<SignerLease> {
    return this.byChain.get(chainId)?.values() ?? [];
  }

  chains(): ChainId[] {
    return [...this.byChain.keys()];
  }

  all(): SignerLease[] {
    return [...this.byChain.values()].flatMap((leases) => [...leases.values()]);
  }

  put(held: SignerLease): void {
    const { chainId } = held.lease.signer;
    const leases = this.byChain.get(chainId) ?? new Map<string, SignerLease>();
    if (!leases.has(held.key)) this.count += 1;
    this.byChain.set(chainId, leases.set(held.key, held));
  }

  delete(signer: SignerId): void {
    if (this.byChain.get(signer.chainId)?.delete(signerKey(signer))) this.count -= 1;
  }

  clear(): void {
    this.byChain.clear();
    this.count = 0;
  }
}
