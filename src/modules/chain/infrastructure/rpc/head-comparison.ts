import type { Clock } from '../../../../kernel/clock.js';
import type { Pause } from '../../../../platform/scheduling/pause.js';
import { standings, type ToldHead } from '../../domain/head-quorum.js';
import type { PoolMember } from './pool-member.js';

/** Oftener would tell no more: a lag is worth knowing when it lasts. */
const COMPARE_EVERY_MS = 1_000;
/** Longest wait of the very first reads; an endpoint that takes longer is compared when it answers. */
const FIRST_COMPARISON_MS = 1_000;

/** An answer older than this says nothing of where the chain is now. */
const STALE_MS = 60_000;

/** The newest answer of one endpoint. */
interface Head extends ToldHead {
  /** The round in which it was asked. */
  readonly round: number;
  /** As judged last; the first who answers in a round is judged before there is anybody to contradict. */
  readonly isBelieved: boolean;
}

/**
 * Asks all endpoints of a chain for their heads, so that one that lags, or is far ahead, is found out before its answers are believed. Reads
 * set it off and, after the first, never wait for it; an endpoint that does not answer is left out until it does.
 */
export class HeadComparison {
  private readonly heads = new Map<PoolMember, Head>();
  private readonly asking = new Set<PoolMember>();
  private round = 0;
  private lastAt = Number.NEGATIVE_INFINITY;
  private first: Promise<void> | null = null;

  constructor(
    private readonly members: readonly PoolMember[],
    private readonly clock: Clock,
    private readonly pause: Pause,
    private readonly maxLag: number,
  ) {}

  /** Before the members are chosen from. Resolves at once except before the first comparison. */
  async refresh(): Promise<void> {
    if (this.members.length < 2) return;
    if (this.first === null) this.first = this.firstComparison();
    else if (this.clock.monotonicMs() - this.lastAt >= COMPARE_EVERY_MS) void this.compare();
    await this.first;
  }

  private async firstComparison(): Promise<void> {
    const giveUp = new AbortController();
    const patience = this.pause(FIRST_COMPARISON_MS, giveUp.signal).catch(() => undefined);
    await Promise.race([this.compare(), patience]);
    giveUp.abort();
  }

  private async compare(): Promise<void> {
    const now = this.clock.monotonicMs();
    this.lastAt = now;
    this.round += 1;
    const { round } = this;
    // Not those that asked us to stay away or have yet to answer: a hung endpoint has one such question at a time.
    const members = this.members.filter((member) => member.health.availableAt <= now && !this.asking.has(member));
    await Promise.all(members.map((member) => this.askForHead(member, round)));
  }

  private async askForHead(member: PoolMember, round: number): Promise<void> {
    this.asking.add(member);
    try {
      const number = (await member.isVerified()) ? await member.blockNumber() : null;
      if (number === null) return;
      const before = this.heads.get(member);
      const believed =
        before?.isBelieved === true ? { number: before.number, at: before.at } : (before?.believed ?? null);
      this.answered(member, { number, round, at: this.clock.monotonicMs(), believed, isBelieved: false });
    } finally {
      this.asking.delete(member);
    }
  }

  /**
   * Judges those that were asked at the same time; the others keep their standing until they answer again, since a head that is
   * merely old proves no lag. What they told lately counts all the same: who is behind even that lags.
   */
  private answered(member: PoolMember, head: Head): void {
    this.heads.set(member, head);
    const lately = [...this.heads].filter(([{ health }, { at }]) => !health.isElsewhere && head.at - at <= STALE_MS);
    const found = standings(
      lately.map(([, told]) => told),
      this.maxLag,
    );
    lately.forEach(([judged, told], i) => {
      const standing = found[i];
      if (standing === undefined || told.round !== head.round) return;
      judged.health.standsAt(standing);
      this.heads.set(judged, { ...told, isBelieved: !standing.isAhead });
    });
  }
}
