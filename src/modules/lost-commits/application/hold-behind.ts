import { Injectable } from '@nestjs/common';
import { NonceConfig } from '../../../config/lockstep-config.js';
import { Clock } from '../../../kernel/clock.js';
import { type ChainId, distinctSigners, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { RpcUnavailable } from '../../chain/index.js';
import { type Lease, leasesFor } from '../../signers/index.js';
import { LaneMemory, LeasedWork } from '../../ledger/index.js';
import { type Compared, CompareBooks } from './compare-books.js';
import { MarkBehind } from './mark-behind.js';

/** Pauses before a signer that is held is compared again: while it waits for a second observation, and when it is known to be behind. */
const OBSERVE_AGAIN_MS = 500;
const CHECK_AGAIN_MS = 2_000;

/** What is known of a signer. Monotonic milliseconds. */
interface Look {
  readonly signer: SignerId;
  readonly isHeld: boolean;
  /** Two looks or more showed a lower nonce, and not another chain. */
  readonly isLower: boolean;
  readonly compareAgainAt: number;
}

/**
 * Holds signers whose chain is behind our books (docs/invariants.md, K8): it was reset, or used no nonce for a failed transaction, and what
 * was executed would be executed again. Their lanes do not begin, so nothing of them is signed, sent or ended, until the chain is even.
 */
@Injectable()
export class HoldBehind {
  /** In memory: the next owner compares before its lane begins. */
  private readonly looks = new Map<string, Look>();
  /** Signers with a look that had no answer. */
  private readonly unlooked = new Map<ChainId, readonly SignerId[]>();

  constructor(
    private readonly books: CompareBooks,
    private readonly mark: MarkBehind,
    private readonly work: LeasedWork,
    private readonly memory: LaneMemory,
    private readonly config: NonceConfig,
    private readonly clock: Clock,
  ) {}

  /**
   * Compares those whose lanes begin, and those that were not compared for `nonce.nonceStateTimeout`, as long as the cursor is trusted.
   * @returns the leases whose lanes may go on
   */
  async admit(chainId: ChainId, leases: readonly Lease[]): Promise<readonly Lease[]> {
    const now = this.clock.monotonicMs();
    const due = leases.filter((lease) => this.isDue(lease, now));
    const compared =
      due.length === 0
        ? []
        : await this.books.execute(
            chainId,
            due.map(({ signer }) => signer),
          );
    for (const [index, lease] of due.entries()) {
      const found = compared[index];
      if (found) await this.decide(lease, found);
    }
    return leases.filter(({ signer }) => !this.isHeld(signer));
  }

  /**
   * Compares signers while their lanes go on. A lane that is not known to be even begins again, and is admitted before anything of it is sent.
   * What cannot be asked now is asked with the next look.
   * @param mayBeReset false while the chain only grows
   */
  async look(chainId: ChainId, signers: readonly SignerId[], mayBeReset = true): Promise<void> {
    const left = this.unlooked.get(chainId) ?? [];
    const asked = distinctSigners([...signers, ...left]).filter((signer) => !this.isHeld(signer));
    if (asked.length === 0) return;
    this.unlooked.set(chainId, asked);
    try {
      const compared = await this.books.execute(chainId, asked, mayBeReset || left.length > 0);
      this.unlooked.delete(chainId);
      const news = compared.filter(({ standing, origin }) => standing !== 'even' || origin !== null);
      // On the workers of the signers: what they began is over when this returns.
      await this.work.run(
        chainId,
        news.map((found) => ({ ...found, signer: found.books.signer })),
        async (leases, share) => {
          for (const found of share) await this.apply(leases, found);
        },
      );
    } catch (error) {
      if (!(error instanceof RpcUnavailable)) throw error;
    }
  }

  /** Signers of a chain that are held because it is known to use fewer nonces than our books. */
  lower(chainId: ChainId): SignerId[] {
    return [...this.looks.values()].flatMap(({ signer, isLower }) =>
      isLower && signer.chainId === chainId ? [signer] : [],
    );
  }

  private isHeld(signer: SignerId): boolean {
    return this.looks.get(signerKey(signer))?.isHeld === true;
  }

  private isDue(lease: Lease, now: number): boolean {
    const { isHeld = false, compareAgainAt = 0 } = this.looks.get(signerKey(lease.signer)) ?? {};
    return now >= compareAgainAt || (!isHeld && this.memory.needsRecovery(lease));
  }

  private async apply(leases: readonly Lease[], { books: { signer }, standing, origin }: Compared): Promise<void> {
    if (standing !== 'even') {
      this.memory.forget([signer]);
      return;
    }
    if (origin === null) return;
    for (const lease of leasesFor(leases, [signer])) await this.mark.origin(lease, origin);
  }

  private async decide(lease: Lease, { books, standing, origin, shown }: Compared): Promise<void> {
    const { signer } = lease;
    const wasHeld = this.isHeld(signer);
    const now = this.clock.monotonicMs();
    const isHeld = standing !== 'even';
    const pause = { even: this.config.nonceStateTimeout, behind: CHECK_AGAIN_MS, unknown: OBSERVE_AGAIN_MS }[standing];
    // First, so that a lane whose write fails does not go on.
    if (isHeld) {
      const isLower = standing === 'behind' && shown?.cause === 'LOWER_NONCE' && books.behind?.cause === 'LOWER_NONCE';
      this.memory.forget([signer]);
      this.looks.set(signerKey(signer), { signer, isHeld, isLower, compareAgainAt: now + pause });
    }
    if (standing === 'behind' && shown !== null) await this.mark.behind(lease, books, shown);
    if (standing === 'unknown' && !wasHeld && books.behind === null) this.mark.doubted(lease, shown);
    if (isHeld) return;
    if (origin !== null) await this.mark.origin(lease, origin);
    if (books.behind !== null) await this.mark.caughtUp(lease, books.behind);
    this.looks.set(signerKey(signer), { signer, isHeld, isLower: false, compareAgainAt: now + pause });
  }
}
