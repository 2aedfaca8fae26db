import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { NodeIdentity } from '../../../kernel/node-identity.js';
import type { EventPosition } from '../../events/index.js';
import { FeedCursor } from '../domain/feed-cursor.js';

/** A dead node is replaced after this time. */
export const CLAIM_MS = 10_000;

/** The right of this node to publish, and up to where the broker has the log. */
@Injectable()
export class FeedClaim {
  private held: { readonly place: EventPosition; readonly untilMs: number } | null = null;

  constructor(
    private readonly cursor: FeedCursor,
    private readonly node: NodeIdentity,
    private readonly clock: Clock,
  ) {}

  /** Null when this node must not publish. */
  get place(): EventPosition | null {
    return this.held !== null && this.clock.monotonicMs() < this.held.untilMs ? this.held.place : null;
  }

  /** Takes or renews it, unless another node has it. */
  async take(): Promise<void> {
    // From before the request, so that it ends here before it ends for the others.
    const untilMs = this.clock.monotonicMs() + CLAIM_MS;
    const before = this.held?.place;
    const stored = await this.cursor.claim(this.node.id, CLAIM_MS);
    // A move that ended meanwhile is newer than what was read.
    const place = stored !== null && this.held !== null && this.held.place !== before ? this.held.place : stored;
    this.held = place && { place, untilMs };
  }

  /** All between the two is published. */
  async move(from: EventPosition, to: EventPosition): Promise<void> {
    const isOurs = await this.cursor.move(this.node.id, from, to);
    this.held = isOurs && this.held !== null ? { ...this.held, place: to } : null;
  }

  async release(): Promise<void> {
    this.held = null;
    await this.cursor.release(this.node.id);
  }
}
