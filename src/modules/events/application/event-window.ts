import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { messageOf } from '../../../kernel/errors.js';
import { Log } from '../../../platform/logging/log.js';
import { comparePositions, type EventPosition } from '../domain/event-position.js';
import { type EventPage, EventReader } from '../domain/event-reader.js';
import { RecentEvents } from '../domain/recent-events.js';
import type { EventFilter } from '../domain/event-filter.js';
import { EventBell } from './event-bell.js';
import { OldReads, ROWS_PER_READ } from './old-reads.js';

const POLL_MS = 1_000;
/** Events that are held back can mostly be read in a moment. The pause doubles while they cannot. */
const HELD_BACK_MS = 20;

/**
 * The newest events in memory, so that many clients of one node do not each read the database. One loop reads new pages while anybody
 * follows; nothing is read and nothing is kept when nobody does.
 */
@Injectable()
export class EventWindow implements OnModuleDestroy {
  /** What to call when the database has lost the place of the window. */
  private readonly followers = new Set<() => void>();
  private recent: RecentEvents | null = null;
  private running: Promise<void> | null = null;
  private readonly waiting = new Set<() => void>();
  private wakeUp: () => void = () => undefined;
  private isRung = false;
  private stopped = false;
  private failing = false;

  constructor(
    private readonly reader: EventReader,
    private readonly oldReads: OldReads,
    private readonly bell: EventBell,
    private readonly log: Log,
  ) {}

  /**
   * Keeps the window up to date until the returned function is called.
   * @param lost called when a standby without the last commits took over: who goes on at its place would miss events
   */
  follow(lost: () => void): () => void {
    const follower = (): void => lost();
    this.followers.add(follower);
    if (!this.stopped) this.running ??= this.run();
    return () => {
      this.followers.delete(follower);
      if (this.followers.size === 0) this.wakeUp();
    };
  }

  /** Events after a place, at least those that pass the filter: from memory when the window has them all, otherwise from the database. */
  async read(after: EventPosition, filter: EventFilter): Promise<EventPage> {
    return this.recent?.after(after, ROWS_PER_READ) ?? this.oldReads.page(after, filter);
  }

  /** Resolves when the window has gone beyond `after`, or `signal` is aborted, or after `timeoutMs`. */
  beyond(after: EventPosition, timeoutMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        this.waiting.delete(look);
        resolve();
      };
      const look = (): void => {
        if (this.recent !== null && comparePositions(this.recent.end, after) > 0) done();
      };
      const timer = setTimeout(done, timeoutMs);
      signal.addEventListener('abort', done);
      this.waiting.add(look);
      if (signal.aborted) done();
      else look();
    });
  }

  async onModuleDestroy(): Promise<void> {
    this.stopped = true;
    this.wakeUp();
    await this.running;
  }

  private get isNeeded(): boolean {
    return this.followers.size > 0 && !this.stopped;
  }

  private async run(): Promise<void> {
    const deafen = this.bell.listen(() => {
      this.isRung = true;
      this.wakeUp();
    });
    let heldBackMs = HELD_BACK_MS;
    while (this.isNeeded) {
      const page = await this.readNew();
      if (page?.hasMore === true) continue;
      const isStuck = page?.isHeldBack === true && page.events.length === 0;
      heldBackMs = isStuck ? Math.min(2 * heldBackMs, POLL_MS) : HELD_BACK_MS;
      await this.pause(page?.isHeldBack === true ? heldBackMs : POLL_MS);
    }
    deafen();
    this.recent = null;
    this.running = null;
  }

  /** @returns null when the database could not be read, or has lost the place of the window */
  private async readNew(): Promise<EventPage | null> {
    this.isRung = false;
    try {
      const recent = (this.recent ??= new RecentEvents(await this.reader.end()));
      const page = await this.reader.page(recent.end, ROWS_PER_READ);
      // After the page, which is of no use when its beginning was lost before.
      if (!(await this.reader.knows(recent.end))) return this.beginAnew();
      recent.add(page);
      this.failing = false;
      for (const look of [...this.waiting]) look();
      return page;
    } catch (error) {
      if (!this.failing) this.log.warn('failed to read new events', { error: messageOf(error) });
      this.failing = true;
      return null;
    }
  }

  private beginAnew(): null {
    this.log.warn('database has lost the last events: streams end');
    this.recent = null;
    for (const lost of [...this.followers]) lost();
    return null;
  }

  /** A ring during the last read ends the pause at once. */
  private async pause(milliseconds: number): Promise<void> {
    if (this.isRung || !this.isNeeded) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.wakeUp = () => undefined;
  }
}
