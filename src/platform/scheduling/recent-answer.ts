import type { Clock } from '../../kernel/clock.js';

/** Runs a query at most once in `ttlMs`; callers in that time get the same answer, or the same error. */
export class RecentAnswer<T> {
  private latest: { readonly answer: Promise<T>; answeredAt: number | null } | null = null;

  constructor(
    private readonly ask: () => Promise<T>,
    private readonly ttlMs: number,
    private readonly clock: Clock,
  ) {}

  get(): Promise<T> {
    const { latest } = this;
    if (latest !== null && this.isRecent(latest.answeredAt)) return latest.answer;
    const asked: { readonly answer: Promise<T>; answeredAt: number | null } = { answer: this.ask(), answeredAt: null };
    const answered = (): void => void (asked.answeredAt = this.clock.monotonicMs());
    asked.answer.then(answered, answered);
    this.latest = asked;
    return asked.answer;
  }

  /** @param answeredAt null while the query runs */
  private isRecent(answeredAt: number | null): boolean {
    return answeredAt === null || this.clock.monotonicMs() - answeredAt < this.ttlMs;
  }
}
