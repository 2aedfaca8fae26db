import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { EventsConfig } from '../../../../config/lockstep-config.js';
import { Unavailable } from '../../../../kernel/errors.js';
import { Log } from '../../../../platform/logging/log.js';
import { Metrics } from '../../../../platform/metrics/metrics.js';
import { checkPlace } from '../../application/list-events.js';
import { EventWindow } from '../../application/event-window.js';
import type { EventFilter } from '../../domain/event-filter.js';
import type { EventPosition } from '../../domain/event-position.js';
import { EventReader } from '../../domain/event-reader.js';
import { EventStream } from './event-stream.js';
import { SlowClient } from './slow-client.js';

/** The streams of this node. */
@Injectable()
export class EventStreams implements OnModuleDestroy {
  private readonly open = new Set<AbortController>();
  private stopped = false;

  constructor(
    private readonly reader: EventReader,
    private readonly window: EventWindow,
    private readonly config: EventsConfig,
    private readonly log: Log,
    private readonly metrics: Metrics,
  ) {
    metrics.onScrape('event_streams', () => metrics.set('event_streams', this.open.size));
  }

  /**
   * Answers with a stream, and resolves when it has begun.
   * @param after null: from now on
   * @throws Conflict `unknown_event_id`; Unavailable `too_many_streams`, `shutting_down`, or when the database does not answer
   */
  async begin(reply: FastifyReply, after: EventPosition | null, filter: EventFilter): Promise<void> {
    this.checkRoom();
    const end = new AbortController();
    reply.raw.once('close', () => end.abort());
    // Only the headers are wanted; or it left while it was found out who calls.
    if (reply.request.method === 'HEAD' || reply.raw.destroyed) end.abort();
    this.open.add(end);
    try {
      // Asked even when the client knows its place, so that a stream never begins without a database.
      if (after !== null) await checkPlace(this.reader, after);
      void this.run(reply, end, after ?? (await this.reader.end()), filter);
    } catch (error) {
      this.open.delete(end);
      throw error;
    }
  }

  /** Clients go on at another node. */
  onModuleDestroy(): void {
    this.stopped = true;
    for (const end of this.open) end.abort();
  }

  private checkRoom(): void {
    const { maxStreams } = this.config;
    if (this.stopped) throw new Unavailable('shutting_down', 'this node is shutting down', 'use another node');
    if (this.open.size < maxStreams) return;
    throw new Unavailable(
      'too_many_streams',
      `${maxStreams} streams are open at this node`,
      'try again later, use another node, or read pages with after',
      { maxStreams },
    );
  }

  private async run(
    reply: FastifyReply,
    end: AbortController,
    after: EventPosition,
    filter: EventFilter,
  ): Promise<void> {
    const { window, config } = this;
    const { signal } = end;
    const unfollow = window.follow(() => end.abort());
    const output = beginAnswer(reply);
    try {
      await new EventStream({ window, config, filter, after, output, signal }).run();
    } catch (error) {
      this.failed(error);
      output.destroy();
    } finally {
      unfollow();
      this.open.delete(end);
      // What a client has not taken by now would hold the shutdown.
      if (output.writableLength > 0) output.destroy();
      else output.end();
    }
  }

  private failed(error: unknown): void {
    if (error instanceof SlowClient) this.metrics.count('event_streams_cut_total', 1);
    else this.log.error('stream of events failed', { error });
  }
}

function beginAnswer(reply: FastifyReply): FastifyReply['raw'] {
  reply.hijack();
  const { raw } = reply;
  raw.on('error', () => undefined);
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value);
  raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    // Nginx would collect the events until its buffer is full.
    'x-accel-buffering': 'no',
    // The connection ends with the stream, so that a shutdown waits for neither.
    connection: 'close',
  });
  return raw;
}
