import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { LeaseManager, Router } from '../../signers/index.js';
import { ReopenFinal } from './reopen-final.js';

/** The chains on which any node had leases lately. */
export abstract class ChainActivity {
  /**
   * Stores that this node has leases on these chains.
   * @returns for every chain that a node ever stored: milliseconds since the last time, by the database clock
   */
  abstract note(chainIds: readonly ChainId[]): Promise<ReadonlyMap<ChainId, number>>;
}

const NOTE_EVERY_MS = 30_000;
/**
 * How long a node goes on following a chain without leases: leases are released minutes after the last tx became final. A later reorg is
 * found when a signer of the chain has work again.
 */
const WATCH_MS = 3_600_000;

/**
 * Decides whether this node follows a chain, because every poll costs RPC calls on every node. A node follows a chain on which it has
 * leases, or final txs to reopen. When no node has leases on a chain any more, one node goes on for a while.
 */
@Injectable()
export class HeadTrackingDuty {
  /** Until when at least one node has to follow each chain; monotonic milliseconds. */
  private watchedUntil: ReadonlyMap<ChainId, number> = new Map();
  private noted: ReadonlySet<ChainId> = new Set();
  private notedAtMs = Number.NEGATIVE_INFINITY;
  private noting: Promise<void> | null = null;

  constructor(
    private readonly leases: LeaseManager,
    private readonly router: Router,
    private readonly reopen: ReopenFinal,
    private readonly activity: ChainActivity,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  async isDue(chainId: ChainId): Promise<boolean> {
    const isAtWork = this.leases.hasAnyOn(chainId);
    const now = this.clock.monotonicMs();
    if (now - this.notedAtMs >= NOTE_EVERY_MS || (isAtWork && !this.noted.has(chainId))) await this.note();
    if (isAtWork || this.reopen.isWaiting(chainId)) return true;
    return now < (this.watchedUntil.get(chainId) ?? 0) && this.router.isChosenFor(chainId);
  }

  /** Runs one statement for all chains; concurrent callers share it. */
  private async note(): Promise<void> {
    this.noting ??= this.noteAll().finally(() => (this.noting = null));
    await this.noting;
  }

  private async noteAll(): Promise<void> {
    const now = this.clock.monotonicMs();
    const chainIds = this.leases.chains();
    try {
      const ages = await this.activity.note(chainIds);
      this.watchedUntil = new Map([...ages].map(([chainId, ageMs]) => [chainId, now - ageMs + WATCH_MS]));
      this.noted = new Set(chainIds);
      this.notedAtMs = now;
    } catch (error) {
      // Keep the last known times: the next poll tries again.
      this.log.warn('failed to store chain activity', { error });
    }
  }
}
