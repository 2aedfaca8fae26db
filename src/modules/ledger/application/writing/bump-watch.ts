import { Injectable } from '@nestjs/common';
import { ResubmitConfig } from '../../../../config/lockstep-config.js';
import { backoffMs } from '../../../../kernel/backoff.js';
import { Clock } from '../../../../kernel/clock.js';
import { type ChainId, type Nonce, signerKey, type SignerId } from '../../../../kernel/signer-id.js';
import type { Lease } from '../../../signers/index.js';

/** When to look for stuck txs of a signer: at this block; null for never, because nothing is in flight. */
interface Watched {
  readonly token: bigint;
  lookAt: number | null;
  stuck: Stuck | null;
}

/** The lowest nonce that was due at the last look, and when it first was. */
interface Stuck {
  readonly nonce: Nonce;
  /** The newest followed block then. */
  readonly head: number;
  /** When it may be sent again; monotonic ms. */
  readonly resendAtMs: number;
  readonly resends: number;
}

interface WatchedChain {
  /** The newest block that {@link BumpWatch.due} was asked about. */
  head: number;
  /** By signer key. */
  signers: Map<string, Watched>;
}

/** Between the first two sends of one tx to learn whether a pool still has it; it grows, since some nodes never say that they have. */
const FIRST_PAUSE_MS = 5_000;

/**
 * Remembers, for each signer that this node holds, the block at which to look for txs that are stuck in a pool. Without it every new block
 * would cost a read per signer. A new owner knows nothing, and looks once.
 */
@Injectable()
export class BumpWatch {
  private readonly chains = new Map<ChainId, WatchedChain>();

  constructor(
    private readonly config: ResubmitConfig,
    private readonly clock: Clock,
  ) {}

  /**
   * The signers to look at now; none while the head stands still. Forgets the signers that this node no longer holds.
   * @param leases all leases of this node on the chain
   * @param head the newest followed block
   */
  due(chainId: ChainId, leases: readonly Lease[], head: number): SignerId[] {
    const before = this.chains.get(chainId);
    const signers = new Map<string, Watched>();
    for (const { signer, token } of leases) {
      const known = before?.signers.get(signerKey(signer));
      signers.set(
        signerKey(signer),
        known?.token === token ? this.notFarAfter(head, known) : { token, lookAt: head, stuck: null },
      );
    }
    this.chains.set(chainId, { head, signers });
    return leases.flatMap(({ signer }) => {
      const lookAt = signers.get(signerKey(signer))?.lookAt ?? null;
      return lookAt !== null && lookAt <= head ? [signer] : [];
    });
  }

  /** The head may come back from a block that the chain does not have: an endpoint told it. */
  private notFarAfter(head: number, known: Watched): Watched {
    if (known.lookAt !== null) known.lookAt = Math.min(known.lookAt, head + this.config.bumpAfterBlocks);
    return known;
  }

  /** @param next the block of the next look; null when nothing of the signer is in flight */
  looked({ signer, token }: Lease, next: number | null): void {
    const known = this.chains.get(signer.chainId)?.signers.get(signerKey(signer));
    if (known?.token === token) known.lookAt = next;
  }

  /**
   * Whether a tx of the signer may be sent again at this look, to learn whether a pool still has it: it was the lowest that is due
   * `resubmit.bumpAfterBlocks` blocks ago, too, so that no block since took it.
   * @param nonce of the lowest that is due
   */
  mayResend({ signer }: Lease, nonce: Nonce): boolean {
    const chain = this.chains.get(signer.chainId);
    const known = chain?.signers.get(signerKey(signer));
    if (!chain || !known) return false;
    const now = this.clock.monotonicMs();
    const { stuck } = known;
    if (stuck?.nonce !== nonce) {
      known.stuck = { nonce, head: chain.head, resendAtMs: now, resends: 0 };
      return false;
    }
    if (now < stuck.resendAtMs || chain.head < stuck.head + this.config.bumpAfterBlocks) return false;
    const resendAtMs = now + backoffMs(FIRST_PAUSE_MS, stuck.resends);
    known.stuck = { ...stuck, resendAtMs, resends: stuck.resends + 1 };
    return true;
  }

  /** Nobody knows whether something of these signers came into the mempool. */
  lookAgain(signers: readonly SignerId[]): void {
    for (const signer of signers) {
      const chain = this.chains.get(signer.chainId);
      const known = chain?.signers.get(signerKey(signer));
      if (chain && known) known.lookAt = chain.head;
    }
  }

  /** Txs of these signers came into the mempool. A look that is due earlier stays. */
  sent(signers: readonly SignerId[]): void {
    for (const signer of signers) {
      const chain = this.chains.get(signer.chainId);
      const known = chain?.signers.get(signerKey(signer));
      if (chain && known?.lookAt === null) known.lookAt = chain.head + this.config.bumpAfterBlocks;
    }
  }
}
