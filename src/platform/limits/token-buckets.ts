export interface Rate {
  readonly perSecond: number;
  /** The tokens of a full bucket. */
  readonly most: number;
}

interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
  readonly fullAtMs: number;
}

/**
 * One bucket of tokens per actor. It may go below zero: what takes more than there is passes once, and what comes next waits until that is paid. An
 * actor whose bucket is full needs none.
 */
export class TokenBuckets {
  private readonly buckets = new Map<string, Bucket>();

  /** @param mostBuckets when there are as many, those that are full are forgotten, and of the others the oldest ones above half of it */
  constructor(private readonly mostBuckets = 10_000) {}

  get size(): number {
    return this.buckets.size;
  }

  tokens(actor: string, { perSecond, most }: Rate, nowMs: number): number {
    const bucket = this.buckets.get(actor);
    if (bucket === undefined) return most;
    return Math.min(most, bucket.tokens + ((nowMs - bucket.atMs) / 1_000) * perSecond);
  }

  /** Seconds until there is a whole token, without which nothing may be taken: 0 when there is one. */
  secondsUntilOne(actor: string, rate: Rate, nowMs: number): number {
    return secondsUntil(1, this.tokens(actor, rate, nowMs), rate);
  }

  /** Takes so many when there is a whole token. @returns 0 when it did; else the seconds until there is one */
  tryTake(actor: string, count: number, rate: Rate, nowMs: number): number {
    const seconds = this.secondsUntilOne(actor, rate, nowMs);
    if (seconds === 0) this.take(actor, count, rate, nowMs);
    return seconds;
  }

  /** @returns what is left */
  take(actor: string, count: number, rate: Rate, nowMs: number): number {
    const tokens = this.tokens(actor, rate, nowMs) - count;
    if (this.buckets.size >= this.mostBuckets) this.forget(nowMs);
    this.buckets.set(actor, { tokens, atMs: nowMs, fullAtMs: nowMs + secondsUntil(rate.most, tokens, rate) * 1_000 });
    return tokens;
  }

  private forget(nowMs: number): void {
    for (const [actor, { fullAtMs }] of this.buckets) if (fullAtMs <= nowMs) this.buckets.delete(actor);
    // After those: whoever owes would else have the debt forgotten for many others that take one each.
    for (const actor of this.buckets.keys()) {
      if (this.buckets.size <= this.mostBuckets / 2) return;
      this.buckets.delete(actor);
    }
  }
}

export function secondsUntil(wanted: number, tokens: number, { perSecond }: Rate): number {
  return Math.max(0, (wanted - tokens) / perSecond);
}
