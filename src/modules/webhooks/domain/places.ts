import type { EndpointAt } from './delivery.js';
import type { Share } from './delivery-queue.js';

/** Posts of this node at the same time. */
const MOST_POSTS = 4_096;
/** The part that an endpoint may have of what is free on the node, and at its host: some is left for those that come later. */
const PART_OF_NODE = 1 / 8;
const PART_OF_HOST = 1 / 2;
/** Posts to one host and port: so many times those to one endpoint. */
const ENDPOINTS_OF_HOST = 4;
/** An endpoint that fails is tried, and gets all its places back with the first success. */
const MOST_IF_FAILING = 4;

/** How many posts this node makes now, to each endpoint and to each host, and which endpoints have asked it to wait. */
export class Places {
  private readonly byEndpoint = new Map<string, number>();
  private readonly byHost = new Map<string, number>();
  /** By endpoint: which of its URLs asked, and until when it rests. */
  private readonly resting = new Map<string, { readonly url: string; readonly untilMs: number }>();
  private posts = 0;

  /** @param mostOfOne posts to one endpoint */
  constructor(private readonly mostOfOne: number) {}

  /** The places of all endpoints together. */
  get total(): number {
    return this.posts;
  }

  get room(): number {
    return Math.max(0, MOST_POSTS - this.posts);
  }

  take({ id, host }: EndpointAt): void {
    this.count(id, host, 1);
  }

  leave({ id, host }: EndpointAt): void {
    this.count(id, host, -1);
  }

  /** When the endpoint has free places again, unless its URL changes. Milliseconds of any clock that does not go back. */
  rest({ id, url }: EndpointAt, untilMs: number): void {
    const before = this.resting.get(id);
    this.resting.set(id, { url, untilMs: before?.url === url ? Math.max(untilMs, before.untilMs) : untilMs });
  }

  /**
   * How many more posts the endpoint may have; one at least while it has none, whatever its neighbours take.
   * @param sharers how many endpoints of its host ask at this moment, itself included
   */
  shareOf({ id, url, host }: EndpointAt, sharers: number, nowMs: number): Share {
    if (this.isResting(id, url, nowMs)) return { most: 0, mostIfFailing: 0 };
    const freeAtHost = Math.max(0, this.mostOfOne * ENDPOINTS_OF_HOST - (this.byHost.get(host) ?? 0));
    const part = Math.floor(Math.min(this.room * PART_OF_NODE, freeAtHost * PART_OF_HOST));
    const share = Math.max(1, Math.min(this.mostOfOne, part));
    const taken = this.byEndpoint.get(id) ?? 0;
    const atOnce = Math.max(1, Math.floor((freeAtHost * PART_OF_HOST) / sharers));
    const free = (most: number): number => Math.max(0, Math.min(most - taken, atOnce));
    return { most: free(share), mostIfFailing: free(Math.min(share, MOST_IF_FAILING)) };
  }

  private isResting(id: string, url: string, nowMs: number): boolean {
    const asked = this.resting.get(id);
    if (asked !== undefined && asked.untilMs <= nowMs) this.resting.delete(id);
    return asked?.url === url && asked.untilMs > nowMs;
  }

  private count(id: string, host: string, more: 1 | -1): void {
    this.posts += more;
    add(this.byEndpoint, id, more);
    add(this.byHost, host, more);
  }
}

function add(counts: Map<string, number>, key: string, more: number): void {
  const count = (counts.get(key) ?? 0) + more;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
