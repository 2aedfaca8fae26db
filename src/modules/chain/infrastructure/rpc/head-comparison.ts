import type { Clock } from '../../../../kernel/clock.js';
import type { Pause } from '../../../../platform/scheduling/pause.js';
import { headPositions, type ReportedHead } from '../../domain/head-quorum.js';
import type { PoolMember } from './pool-member.js';

/** Comparing more often would gain nothing: only a lag that lasts matters. */
const COMPARE_EVERY_MS = 1_000;
/** Longest wait of the first reads; an endpoint that takes longer is compared when it answers. */
const MAX_FIRST_COMPARISON_MS = 1_000;

/** A head that was reported longer ago is not compared. */
const STALE_HEAD_MS = 60_000;

/** The newest head of one endpoint. */
interface Head extends ReportedHead {
  /** The round of comparison in which the endpoint was asked. */
  readonly round: number;
  /** False when it was too far ahead in the last comparison; the first answer of a round is compared before any other can contradict. */
  readonly isAccepted: boolean;
}

/**
 * Asks all endpoints of a chain for their heads, to find endpoints that lag or are far ahead before their answers are used. Reads
 * start a comparison, and only the first read waits for it. An endpoint that does not answer is not compared until it does.
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

  /** Called before an endpoint is chosen. Resolves at once except before the first comparison. */
  async refresh(): Promise<void> {
    if (this.members.length < 2) return;
    if (this.first === null) this.first = this.firstComparison();
    else if (this.clock.monotonicMs() - this.lastAt >= COMPARE_EVERY_MS) void this.compare();
    await this.first;
  }

  private async firstComparison(): Promise<void> {
    const giveUp = new AbortController();
    const timeout = this.pause(MAX_FIRST_COMPARISON_MS, giveUp.signal).catch(() => undefined);
    await Promise.race([this.compare(), timeout]);
    giveUp.abort();
  }

  private async compare(): Promise<void> {
    const now = this.clock.monotonicMs();
    this.lastAt = now;
    this.round += 1;
    const { round } = this;
    // Leaves out endpoints that asked us to wait, and endpoints with an open request: a hung endpoint gets one such request at a time.
    const members = this.members.filter((member) => member.health.availableAt <= now && !this.asking.has(member));
    await Promise.all(members.map((member) => this.askForHead(member, round)));
  }

  private async askForHead(member: PoolMember, round: number): Promise<void> {
    this.asking.add(member);
    try {
      const number = (await member.isVerified()) ? await member.blockNumber() : null;
      if (number === null) return;
      const before = this.heads.get(member);
      const accepted =
        before?.isAccepted === true ? { number: before.number, at: before.at } : (before?.accepted ?? null);
      this.answered(member, { number, round, at: this.clock.monotonicMs(), accepted, isAccepted: false });
    } finally {
      this.asking.delete(member);
    }
  }

  /**
   * Sets the position of the endpoints that were asked in the same round. The others keep their position until they answer again,
   * since an old head proves no lag. Their last heads are compared too: an endpoint behind an old head does lag.
   */
  private answered(member: PoolMember, head: Head): void {
    this.heads.set(member, head);
    const lately = [...this.heads].filter(
      ([{ health }, { at }]) => !health.isOfAnotherChain && head.at - at <= STALE_HEAD_MS,
    );
    const positions = headPositions(
      lately.map(([, reported]) => reported),
      this.maxLag,
    );
    lately.forEach(([compared, reported], i) => {
      const position = positions[i];
      if (position === undefined || reported.round !== head.round) return;
      compared.health.setHeadPosition(position);
      this.heads.set(compared, { ...reported, isAccepted: !position.isAhead });
    });
  }
}
