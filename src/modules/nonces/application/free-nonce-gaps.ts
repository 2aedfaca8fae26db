import { Injectable } from '@nestjs/common';
import { ConfirmationsConfig } from '../../../config/lockstep-config.js';
import { Clock } from '../../../kernel/clock.js';
import { type ChainId, type Nonce, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { Chains } from '../../chain/index.js';
import { NonceLedger, type SlotRef } from '../../signers/index.js';
import { HoldBehind } from '../../lost-commits/index.js';
import { BegunWork, WriteChanges } from '../../ledger/index.js';

/** Each nonce costs a no-op, so an operator has to free a wider gap with {@link SyncSigner}. */
const WIDEST_GAP_NONCES = 64;

/** Intervals without an observation after which the earlier observation does not count any more. */
const STALE_INTERVALS = 3;

/** The chain's next nonce of a signer, with the monotonic milliseconds of its first and its last observation. */
interface Observation {
  readonly nonce: Nonce;
  readonly first: number;
  readonly last: number;
}

/**
 * Frees nonces below our lowest slot. Foreign transactions used them, a reorg freed them, and no slot exists for them: the chain's nonce
 * stands still, and nothing of ours can be mined. Freed nonces are filled like any nonce gap (docs/invariants.md, I7).
 */
@Injectable()
export class FreeNonceGaps {
  private readonly observations = new Map<string, Observation>();

  constructor(
    private readonly chains: Chains,
    private readonly work: BegunWork,
    private readonly ledger: NonceLedger,
    private readonly write: WriteChanges,
    private readonly behind: HoldBehind,
    private readonly config: ConfirmationsConfig,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** @param signers signers with a tx that was not mined within `confirmations.staleReceiptTimeout`, whether resends are on or off */
  async execute(chainId: ChainId, signers: readonly SignerId[]): Promise<void> {
    if (signers.length === 0) return;
    await this.behind.look(chainId, signers, false);
    const accounts = signers.map(({ address }) => address);
    const counts = await this.chains.get(chainId).transactionCounts(accounts, 'latest');
    const stalled = signers.flatMap((signer, index): SlotRef[] => {
      const nonce = counts[index];
      return nonce !== undefined && this.standsStill({ signer, nonce }) ? [{ signer, nonce }] : [];
    });
    await this.work.run(chainId, await this.gapsAt(stalled), async (leases, share) => {
      const { slots } = await this.write.underFence(leases, 'free_gaps', async (fence) => ({
        slots: { freed: await this.ledger.freeMissing(fence, share, WIDEST_GAP_NONCES) },
      }));
      for (const { signer, nonce } of slots?.freed ?? [])
        this.log.warn('nonce freed below our lowest slot', { signer: signerKey(signer), nonce });
    });
  }

  /**
   * One observation is not enough: the endpoint may lag.
   * @returns true when the nonce has not changed for `confirmations.staleReceiptTimeout`, after which a tx that is not mined is looked at again
   */
  private standsStill({ signer, nonce }: SlotRef): boolean {
    const { staleReceiptTimeout: interval } = this.config;
    const now = this.clock.monotonicMs();
    const known = this.observations.get(signerKey(signer));
    const goesOn = known?.nonce === nonce && now - known.last <= STALE_INTERVALS * interval;
    const first = goesOn ? known.first : now;
    this.observations.set(signerKey(signer), { nonce, first, last: now });
    return now - first >= interval;
  }

  /** The signers with a gap that is not wider than the limit. */
  private async gapsAt(stalled: readonly SlotRef[]): Promise<SlotRef[]> {
    const gaps = await this.ledger.missing(stalled);
    for (const { signer, nonce, count } of gaps)
      if (count > WIDEST_GAP_NONCES)
        this.log.error('nonce gap too wide: POST /api/v1/signers/{chainId}/{address}/sync frees it', {
          signer: signerKey(signer),
          chainNonce: nonce,
          missing: count,
        });
    return gaps.filter(({ count }) => count <= WIDEST_GAP_NONCES);
  }
}
