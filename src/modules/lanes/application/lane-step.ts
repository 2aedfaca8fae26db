import { Injectable } from '@nestjs/common';
import { ExecutionConfig } from '../../../config/lockstep-config.js';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { type ChainConnector, Chains } from '../../chain/index.js';
import { type Lease, LeaseLost, LeaseManager } from '../../signers/index.js';
import { AlignNonces, FillNonceGaps } from '../../nonces/index.js';
import { AllocateNonces } from './allocate-nonces.js';
import { BroadcastAttempts, SignAttempts } from '../../sending/index.js';
import { bisectOnFailure } from '../../../platform/scheduling/bisect-on-failure.js';
import { AdmitLanes } from '../../lost-commits/index.js';
import { LaneMemory } from '../../transactions/index.js';
import { PreparePending, type ReadyTx } from './prepare-pending.js';
import { RecoverLane } from './recover-lane.js';
import { isolateFailures } from '../../../platform/scheduling/isolate-failures.js';

/**
 * One step of the lanes of some signers of one chain: recover, allocate, sign, persist, broadcast, record (design,
 * section 6). Signers that share a step share its transactions and round trips. Must never run twice at once for a signer.
 */
@Injectable()
export class LaneStep {
  constructor(
    private readonly chains: Chains,
    private readonly leases: LeaseManager,
    private readonly memory: LaneMemory,
    private readonly admit: AdmitLanes,
    private readonly recover: RecoverLane,
    private readonly fills: FillNonceGaps,
    private readonly prepare: PreparePending,
    private readonly align: AlignNonces,
    private readonly allocate: AllocateNonces,
    private readonly sign: SignAttempts,
    private readonly broadcast: BroadcastAttempts,
    private readonly config: ExecutionConfig,
    private readonly log: Log,
  ) {}

  /**
   * @param onFailed is told the signers that failed while others did not
   * @returns the signers that had more waiting than fitted in this step
   * @throws when nothing succeeded
   */
  async execute(
    chainId: number,
    signers: readonly SignerId[],
    onFailed: (signer: SignerId) => void = () => undefined,
  ): Promise<SignerId[]> {
    const more: SignerId[] = [];
    const failures = await isolateFailures(signers, async (some) => {
      more.push(...(await this.together(chainId, some)));
    });
    for (const { item, error } of failures) {
      this.log.error('lane step failed', { signer: signerKey(item), error });
      onFailed(item);
    }
    return more;
  }

  private async together(chainId: number, signers: readonly SignerId[]): Promise<SignerId[]> {
    const leases = await this.leases.acquireOrRenew(signers);
    if (leases.length === 0) return [];
    try {
      return await this.advance(this.chains.get(chainId), leases);
    } catch (error) {
      // Whatever was half done is written, or was not done: the next step starts from the database.
      this.memory.forget(signers);
      if (error instanceof LeaseLost) return this.dropLost(signers, error);
      throw error;
    }
  }

  private dropLost(signers: readonly SignerId[], error: LeaseLost): SignerId[] {
    this.leases.lost(error);
    const lost = new Set(error.leases.map(({ signer }) => signerKey(signer)));
    return signers.filter((signer) => !lost.has(signerKey(signer)));
  }

  private async advance(chain: ChainConnector, held: readonly Lease[]): Promise<SignerId[]> {
    const leases = await this.admit.execute(chain, held);
    const taken = leases.filter((lease) => this.memory.needsRecovery(lease));
    // Before, and not after: what cannot be finished forgets its lane again.
    this.memory.recovered(taken);
    if (taken.length > 0) await this.recover.execute(chain, taken);

    const ready = await this.prepare.execute(chain, leases);
    const moved = ready.length > 0 ? await this.send(chain, leases, ready) : new Set<string>();
    await this.fills.execute(chain, leases);
    // Where nothing could go, the next step would only ask the same again.
    return signersWithFullBatch(ready, this.config.batchSize).filter((signer) => moved.has(signerKey(signer)));
  }

  /** @returns keys of the signers of which something got a nonce */
  private async send(
    chain: ChainConnector,
    leases: readonly Lease[],
    all: readonly ReadyTx[],
  ): Promise<ReadonlySet<string>> {
    // Asked before the nonces are taken: without fees nothing could be signed.
    const quote = await chain.feeQuote();
    const { nonces, held } = await this.align.execute(chain, leases);
    const aligned = new Set(nonces.map(({ signer }) => signerKey(signer)));
    const ready = all.filter(({ tx }) => !held.has(signerKey(tx.signer)));
    const allocated = await bisectOnFailure(
      ready,
      (piece) => this.allocate.execute(leases, piece, nonces),
      (poison, error) => this.prepare.quarantine(leases, poison, error),
    );
    this.memory.aligned(leases.filter(({ signer }) => aligned.has(signerKey(signer))));
    // Some were not waiting any more: changed by a request, or allocated by a commit whose answer was lost. If it is the
    // latter, the next step must find them in the database.
    if (allocated.length < ready.length) this.memory.forget(ready.map(({ tx }) => tx.signer));
    const signed = await this.sign.execute(chain, quote, leases, allocated);
    await this.broadcast.execute(chain, leases, signed);
    return new Set(allocated.map(({ tx }) => signerKey(tx.signer)));
  }
}

function signersWithFullBatch(ready: readonly ReadyTx[], batchSize: number): SignerId[] {
  const counts = new Map<string, { signer: SignerId; count: number }>();
  for (const { tx } of ready) {
    const entry = counts.get(signerKey(tx.signer)) ?? { signer: tx.signer, count: 0 };
    entry.count += 1;
    counts.set(signerKey(tx.signer), entry);
  }
  return [...counts.values()].filter(({ count }) => count >= batchSize).map(({ signer }) => signer);
}
