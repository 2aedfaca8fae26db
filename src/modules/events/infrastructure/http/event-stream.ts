import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventsConfig } from '../../../../config/lockstep-config.js';
import { Unavailable } from '../../../../kernel/errors.js';
import type { EventWindow } from '../../application/event-window.js';
import { type EventFilter, isWanted } from '../../domain/event-filter.js';
import type { EventPosition } from '../../domain/event-position.js';
import type { PublicEvent } from '../../domain/public-event.js';
import { frameOf, openingFrame, placeFrame } from './event-frames.js';
import { writeTo } from './slow-client.js';

/** Characters of one write. */
const WRITE_CHARS = 64 * 1024;
const RETRY_AFTER_FAILURE_MS = 1_000;

export interface StreamOptions {
  readonly window: EventWindow;
  readonly config: EventsConfig;
  readonly filter: EventFilter;
  readonly after: EventPosition;
  readonly output: Writable;
  /** Aborted when the client has left, and when the node shuts down. */
  readonly signal: AbortSignal;
}

/** Sends one client all events from a place on, as fast as the client takes them. */
export class EventStream {
  private place: EventPosition;
  private writtenAtMs = 0;

  constructor(private readonly options: StreamOptions) {
    this.place = options.after;
  }

  /**
   * Resolves when the signal is aborted.
   * @throws SlowClient
   */
  async run(): Promise<void> {
    const { signal, window, config } = this.options;
    await this.write(openingFrame(this.place));
    while (!signal.aborted) {
      const hasMore = await this.sendPage();
      if (this.idleMs() >= config.heartbeat) await this.write(placeFrame(this.place));
      if (!hasMore) await window.beyond(this.place, Math.max(1, config.heartbeat - this.idleMs()), signal);
    }
  }

  private async sendPage(): Promise<boolean> {
    const { window, filter, signal } = this.options;
    try {
      const { events, next, hasMore } = await window.read(this.place, filter);
      await this.send(events.filter((event) => isWanted(filter, event)));
      this.place = next;
      return hasMore;
    } catch (error) {
      // The window logs that the database is away. The client keeps its stream, and gets the rest later.
      if (!(error instanceof Unavailable)) throw error;
      await sleep(RETRY_AFTER_FAILURE_MS, undefined, { signal }).catch(() => undefined);
      return false;
    }
  }

  private async send(events: readonly PublicEvent[]): Promise<void> {
    let text = '';
    for (const event of events) {
      text += frameOf(event);
      if (text.length < WRITE_CHARS) continue;
      await this.write(text);
      text = '';
    }
    if (text !== '') await this.write(text);
  }

  private async write(text: string): Promise<void> {
    const { output, config, signal } = this.options;
    await writeTo(output, text, config.slowClientTimeout, signal);
    this.writtenAtMs = performance.now();
  }

  private idleMs(): number {
    return performance.now() - this.writtenAtMs;
  }
}
