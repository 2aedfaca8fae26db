import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { LeaseManager, Router } from '../../signers/index.js';
import { ChainActivity } from './chain-activity.js';
import { ReopenFinal } from './reopen-final.js';

const NOTE_EVERY_MS = 30_000;
/** Leases are given up minutes after the last transaction became final; a reorg that takes it back later than this is found with the next work. */
const WATCH_MS = 3_600_000;

/**
 * Whether this node is to follow a chain: each poll of one that nobody uses would cost RPC calls on every node. It follows where it
 * has leases, or knows of something final that is to be opened again. Where no node has leases any more, one goes on for a while.
 */
@Injectable()
export class HeadTrackingDuty {
  /** Monotonic milliseconds, by chain: until when one node at least has to follow it. */
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

  /** One statement for all chains, however many ask at once. */
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
      // What was known stays: it is only about who follows, and the next look asks again.
      this.log.warn('on which chains there is work cannot be noted', { error });
    }
  }
}
