import { Injectable } from '@nestjs/common';
import { WebhooksConfig } from '../../../config/index.js';
import { Clock } from '../../../kernel/clock.js';
import { NodeIdentity } from '../../../kernel/node-identity.js';
import type { ClaimedDelivery } from '../domain/delivery.js';
import { DeliveryQueue } from '../domain/delivery-queue.js';
import { Places } from '../domain/places.js';
import { askedWaitMs, outcomeOf, retryWaitMs } from '../domain/retries.js';
import type { Answer } from '../domain/webhook-sender.js';
import { PostDelivery } from './post-delivery.js';
import { RecordDeliveries } from './record-deliveries.js';

/** One that fails is tried, and gets all its places back with the first success. */
const PLACES_OF_FAILING = 4;
/** Of all endpoints of this node. */
const MOST_POSTS = 4_096;
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
    if (this.places.total >= MOST_POSTS) return 0;
    const { concurrency, timeout } = this.config;
    const claimed = await this.queue.claim({
      nodeId: this.node.id,
      forMs: timeout + RECORD_WITHIN_MS,
      places: concurrency,
      placesOfFailing: Math.min(PLACES_OF_FAILING, concurrency),
      taken: this.places.taken(this.clock.monotonicMs()),
    });
    for (const delivery of claimed) this.begin(delivery);
    return claimed.length;
  }

  /** Resolves when the posts in flight have ended and are recorded. */
  async idle(): Promise<void> {
    await Promise.all(this.posts);
    await this.results.idle();
  }

  private begin(delivery: ClaimedDelivery): void {
    this.places.take(delivery.endpointId);
    const post = this.post(delivery).finally(() => {
      this.posts.delete(post);
      this.places.leave(delivery.endpointId);
      if (this.places.total * 2 < this.config.concurrency) this.hasRoom();
    });
    this.posts.add(post);
  }

  private async post(delivery: ClaimedDelivery): Promise<void> {
    const { endpointId, position, tries, isFailing } = delivery;
    const answer = await this.postDelivery.execute(delivery);
    this.heed(endpointId, answer);
    this.results.execute({
      endpointId,
      position,
      outcome: outcomeOf(answer),
      waitMs: retryWaitMs(answer, tries, Math.random()),
      answerStatus: answer.status,
      answerBody: answer.body,
      error: answer.error,
      wasFailing: isFailing,
      durationMs: answer.durationMs,
    });
  }

  /** Until the time that the receiver asks for, nothing is sent to its endpoint. */
  private heed(endpointId: string, answer: Answer): void {
    const waitMs = askedWaitMs(answer);
    if (waitMs !== null) this.places.rest(endpointId, this.clock.monotonicMs() + waitMs);
  }
}
