import { Injectable } from '@nestjs/common';
import { WebhooksConfig } from '../../../config/index.js';
import { Clock } from '../../../kernel/clock.js';
import { NodeIdentity } from '../../../kernel/node-identity.js';
import type { ClaimedDelivery, EndpointAt } from '../domain/delivery.js';
import { DeliveryQueue } from '../domain/delivery-queue.js';
import { Places } from '../domain/places.js';
import { askedWaitMs, outcomeOf, retryWaitMs } from '../domain/retries.js';
import type { Answer } from '../domain/webhook-sender.js';
import { PostDelivery } from './post-delivery.js';
import { RecordDeliveries } from './record-deliveries.js';

/** A claim of so many may have left more. */
const ENOUGH = 100;
/** From the end of a post to the record of its result. */
const RECORD_WITHIN_MS = 15_000;

/** Claims what is due, and posts it. Does not wait for the answers: a slow receiver delays no other. */
@Injectable()
export class DeliverDue {
  private readonly places: Places;
  private readonly posts = new Set<Promise<void>>();
  private hasRoom: () => void = () => undefined;

  constructor(
    private readonly queue: DeliveryQueue,
    private readonly postDelivery: PostDelivery,
    private readonly results: RecordDeliveries,
    private readonly config: WebhooksConfig,
    private readonly node: NodeIdentity,
    private readonly clock: Clock,
  ) {
    this.places = new Places(config.concurrency);
  }

  /** While less than half of the places of one endpoint are taken, after each post: more can be claimed before all have ended. */
  whenRoom(hasRoom: () => void): void {
    this.hasRoom = hasRoom;
  }

  /** @returns how many it began to post */
  async execute(): Promise<number> {
    let begun = 0;
    for (;;) {
      const more = await this.claim();
      begun += more;
      if (more < ENOUGH) return begun;
    }
  }

  /** Resolves when the posts in flight have ended and are recorded. */
  async idle(): Promise<void> {
    await Promise.all(this.posts);
    await this.results.idle();
  }

  private get claimMs(): number {
    return this.config.timeout + RECORD_WITHIN_MS;
  }

  private async claim(): Promise<number> {
    const { room } = this.places;
    if (room === 0) return 0;
    const nowMs = this.clock.monotonicMs();
    const claimed = await this.queue.claim({
      nodeId: this.node.id,
      forMs: this.claimMs,
      // Shares are as of now: a claim of all that is free would leave nothing for endpoints that come later.
      most: Math.ceil(room / 2),
      shareOf: (endpoint, sharers) => this.places.shareOf(endpoint, sharers, nowMs),
    });
    for (const delivery of claimed) this.begin(delivery);
    return claimed.length;
  }

  private begin(delivery: ClaimedDelivery): void {
    const endpoint = { id: delivery.endpointId, url: delivery.url, host: delivery.host };
    this.places.take(endpoint);
    const post = this.post(endpoint, delivery).finally(() => {
      this.posts.delete(post);
      this.places.leave(endpoint);
      if (this.places.total * 2 < this.config.concurrency) this.hasRoom();
    });
    this.posts.add(post);
  }

  private async post(endpoint: EndpointAt, delivery: ClaimedDelivery): Promise<void> {
    const { endpointId, position, url, tries, isFailing } = delivery;
    const answer = await this.postDelivery.execute(delivery);
    if (answer === null) {
      // It is no try: when its claim ends, it is due again, for a node that has the key. Until then this node takes no more of its endpoint.
      this.places.rest(endpoint, this.clock.monotonicMs() + this.claimMs);
      return;
    }
    this.heed(endpoint, answer);
    this.results.execute({
      endpointId,
      position,
      url,
      outcome: outcomeOf(answer),
      waitMs: retryWaitMs(answer, tries, Math.random()),
      answerStatus: answer.status,
      answerBody: answer.body,
      error: answer.error,
      wasFailing: isFailing,
      durationMs: answer.durationMs,
    });
  }

  /** Until the time that the receiver asks for, nothing is sent to its endpoint at this URL. */
  private heed(endpoint: EndpointAt, answer: Answer): void {
    const waitMs = askedWaitMs(answer);
    if (waitMs !== null) this.places.rest(endpoint, this.clock.monotonicMs() + waitMs);
  }
}
