import { Injectable } from '@nestjs/common';
import { distinctSigners, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { isolateFailures } from '../../../platform/scheduling/isolate-failures.js';
import type { ChainConnector } from '../../chain/index.js';
import { FillNonceGaps } from '../../nonces/index.js';
import { BroadcastAttempts, SignAttempts } from '../../sending/index.js';
import { type Lease, LeaseLost, LeaseManager } from '../../signers/index.js';
import { LaneMemory } from '../../ledger/index.js';
import { AllocateNonces } from './allocate-nonces.js';
import { PreparePending, type ReadyTx } from './prepare-pending.js';
import { ResumeLanes } from './resume-lanes.js';

/**
 * One step of the lanes of some signers of one chain (docs/architecture.md, Lane step). Signers in one step share database transactions and
 * round trips, but not failures (docs/invariants.md, I14). Must never run twice at once for a signer.
 */
@Injectable()
export class LaneStep {
  constructor(
    private readonly leases: LeaseManager,
    private readonly memory: LaneMemory,
    private readonly lanes: ResumeLanes,
    private readonly pending: PreparePending,
    private readonly nonces: AllocateNonces,
    private readonly attempts: SignAttempts,
    private readonly broadcast: BroadcastAttempts,
    private readonly gaps: FillNonceGaps,
  ) {}

  /**
   * @param onFailed called with each signer that failed while others succeeded
   * @returns the signers with more waiting txs than this step had room for, and with a tx that got a nonce
   * @throws when no signer succeeded
   */
  async step(
    chain: ChainConnector,
    signers: readonly SignerId[],
    onFailed: (signer: SignerId, error: unknown) => void,
  ): Promise<SignerId[]> {
    const more: SignerId[] = [];
    const failures = await isolateFailures(signers, async (some) => {
      more.push(...(await this.together(chain, some)));
    });
    for (const { item, error } of failures) onFailed(item, error);
    return more;
  }

  private async together(chain: ChainConnector, signers: readonly SignerId[]): Promise<SignerId[]> {
    const leases = await this.leases.acquireOrRenew(signers);
    if (leases.length === 0) return [];
    try {
      return await this.advance(chain, leases);
    } catch (error) {
      // Memory may differ from the database after a failure: the next step reads the database.
      this.memory.forget(signers);
      if (error instanceof LeaseLost) return this.dropLost(signers, error);
      throw error;
    }
  }

  private async advance(chain: ChainConnector, held: readonly Lease[]): Promise<SignerId[]> {
    const leases = await this.lanes.execute(chain, held);
    const { ready, full, cleared } = await this.pending.execute(chain, leases);
    const moved = ready.length > 0 ? await this.send(chain, leases, ready) : new Set<string>();
    await this.gaps.execute(chain.chainId, leases);
    // When nothing got a nonce, the next step would only repeat the same calls.
    return distinctSigners([...cleared, ...full.filter((signer) => moved.has(signerKey(signer)))]);
  }

  /** @returns keys of the signers with a tx that got a nonce */
  private async send(
    chain: ChainConnector,
    leases: readonly Lease[],
    ready: readonly ReadyTx[],
  ): Promise<ReadonlySet<string>> {
    // Read before nonces are allocated: without fees nothing could be signed.
    const quote = await chain.feeQuote();
    const allocated = await this.nonces.execute(chain, leases, ready, (poison, error) =>
      this.pending.quarantine(leases, poison, error),
    );
    const signed = await this.attempts.execute(
      quote,
      leases,
      allocated.filter(({ tx }) => !tx.isHold),
    );
    const refused = await this.broadcast.execute(chain, leases, signed);
    await this.lanes.close(chain.chainId, leases, refused);
    return new Set(allocated.map(({ tx }) => signerKey(tx.signer)));
  }

  private dropLost(signers: readonly SignerId[], error: LeaseLost): SignerId[] {
    this.leases.lost(error);
    const lost = new Set(error.leases.map(({ signer }) => signerKey(signer)));
    return signers.filter((signer) => !lost.has(signerKey(signer)));
  }
}
