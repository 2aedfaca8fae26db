import { Injectable } from '@nestjs/common';
import { ResubmitConfig } from '../../../config/lockstep-config.js';
import { Clock } from '../../../kernel/clock.js';
import { type ChainId, type Nonce, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { Chains } from '../../chain/index.js';
import { FencedUnitOfWork, NonceLedger, type SlotRef } from '../../signers/index.js';
import { Doorbell, LaneMemory, LeasedWork } from '../../transactions/index.js';

/** Nonces. Each costs a no-op, so a wider gap is left to a person, who asks for it with {@link SyncSigner}. */
const WIDEST = 64;
/** Intervals without a look after which what was seen before says nothing about now. */
const STALE = 3;

/** The chain's next nonce of a signer, and the first and the last look that said so. Monotonic milliseconds. */
interface Standing {
  readonly nonce: Nonce;
  readonly first: number;
  readonly last: number;
}

/**
 * When the chain's nonce stands still while we hold higher ones, the lowest is not always ours to send: nonces that others used
 * may be free again after a reorg, and nobody has a slot for them. They are freed, and filled like any hole (I7).
 */
@Injectable()
export class FreeNonceGaps {
  private readonly standing = new Map<string, Standing>();

  constructor(
    private readonly chains: Chains,
    private readonly work: LeasedWork,
    private readonly unitOfWork: FencedUnitOfWork,
    private readonly ledger: NonceLedger,
    private readonly memory: LaneMemory,
    private readonly doorbell: Doorbell,
    private readonly config: ResubmitConfig,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** @param signers with something that was not mined for long */
  async execute(chainId: ChainId, signers: readonly SignerId[]): Promise<void> {
    if (signers.length === 0) return;
    const accounts = signers.map(({ address }) => address);
    const counts = await this.chains.get(chainId).transactionCounts(accounts, 'latest');
    const still = signers.flatMap((signer, index): SlotRef[] => {
      const nonce = counts[index];
      return nonce !== undefined && this.standsStill(signer, nonce) ? [{ signer, nonce }] : [];
    });
    await this.work.run(chainId, await this.gapsAt(still), async (leases, share) => {
      const freed = await this.unitOfWork.run(leases, 'heal_gaps', (fence) =>
        this.ledger.freeMissing(fence, share, WIDEST),
      );
      for (const { signer, nonce } of freed) {
        this.log.warn('a nonce below ours is free again', { signer: signerKey(signer), nonce });
        this.memory.distrustNonce(signer);
        this.memory.gapOpened(signer);
      }
      this.doorbell.ring(freed.map(({ signer }) => signer));
    });
  }

  /** Those that have a gap, and one that is narrow enough. */
  private async gapsAt(still: readonly SlotRef[]): Promise<SlotRef[]> {
    const gaps = await this.ledger.missing(still);
    for (const { signer, nonce, count } of gaps)
      if (count > WIDEST)
        this.log.error(
          'the chain stands still far below our lowest nonce: POST /api/v1/signers/{chainId}/{address}/sync fills the gap',
          {
            signer: signerKey(signer),
            chainNonce: nonce,
            missing: count,
          },
        );
    return gaps.filter(({ count }) => count <= WIDEST);
  }

  /** Twice the same, an interval apart: one low count may be of an endpoint that lags. */
  private standsStill(signer: SignerId, nonce: Nonce): boolean {
    const { interval } = this.config;
    const now = this.clock.monotonicMs();
    const known = this.standing.get(signerKey(signer));
    const goesOn = known?.nonce === nonce && now - known.last <= STALE * interval;
    const first = goesOn ? known.first : now;
    this.standing.set(signerKey(signer), { nonce, first, last: now });
    return now - first >= interval;
  }
}
