import { Injectable } from '@nestjs/common';
import { signerKey } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { EventLog } from '../../events/index.js';
import type { Fence, Lease } from '../../signers/index.js';
import { type Books, type ChainBehind, LostCommitsRepository, WriteChanges } from '../../ledger/index.js';
import { ExecutedAfterAll } from './executed-after-all.js';

/** Stores what a comparison with the chain showed, and tells it once, whoever owns the signer. */
@Injectable()
export class MarkBehind {
  constructor(
    private readonly repository: LostCommitsRepository,
    private readonly write: WriteChanges,
    private readonly events: EventLog,
    private readonly executed: ExecutedAfterAll,
    private readonly log: Log,
  ) {}

  async origin(lease: Lease, origin: readonly string[]): Promise<void> {
    await this.underFence(lease, (fence) => this.repository.noteOrigin(fence, lease.signer, origin));
  }

  async behind(lease: Lease, { signer, behind }: Books, shown: ChainBehind): Promise<void> {
    // Told again only when it is known by now that it is another chain.
    if (behind !== null && (behind.cause === shown.cause || behind.cause === 'CHAIN_RESET')) return;
    await this.underFence(lease, async (fence) => {
      await this.repository.markBehind(fence, signer, shown);
      await this.events.appendOfSigners(fence.tx, fence, [{ signer, reason: 'chain_behind', detail: shown }]);
    });
    this.log.error('signer held: the chain is behind our books', { signer: signerKey(signer), ...shown });
  }

  /** @throws RpcUnavailable when too few endpoints tell what used the nonces; then it is still behind */
  async caughtUp(lease: Lease, before: ChainBehind): Promise<void> {
    const { signer } = lease;
    if (before.cause === 'LOWER_NONCE' && before.chainNonce !== null)
      await this.executed.lookFor(lease, BigInt(before.chainNonce));
    await this.underFence(lease, async (fence) => {
      await this.repository.markBehind(fence, signer, null);
      await this.events.appendOfSigners(fence.tx, fence, [{ signer, reason: 'chain_caught_up', detail: before }]);
    });
    this.log.warn('signer no longer held: the chain agrees with our books', { signer: signerKey(signer) });
  }

  /** Nothing is stored before it is proven. */
  doubted({ signer }: Lease, shown: ChainBehind | null): void {
    this.log.warn('lane waits: an endpoint tells a lower nonce than our books, or another chain', {
      signer: signerKey(signer),
      ...shown,
    });
  }

  private async underFence(lease: Lease, work: (fence: Fence) => Promise<void>): Promise<void> {
    await this.write.underFence([lease], 'books', async (fence) => {
      await work(fence);
      return {};
    });
  }
}
