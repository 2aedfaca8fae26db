import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { DatabaseConfig } from '../../../config/lockstep-config.js';
import { messageOf } from '../../../kernel/errors.js';
import { Database } from '../../../platform/database/database.js';
import { type Channel, Listener } from '../../../platform/database/listener.js';
import { Log } from '../../../platform/logging/log.js';
import { EventBell } from '../application/event-bell.js';

const CHANNEL: Channel = {
  name: 'lockstep_events',
  application: 'lockstep-events',
  lost: 'connection for news of events lost, polling for events instead',
};
/** Every NOTIFY takes a lock that all commits of the database share, so there is at most one per interval. */
const INTERVAL_MS = 50;
const NOTIFY = { name: 'event_notify', text: `SELECT pg_notify('${CHANNEL.name}', '')` };

/** Rings by LISTEN/NOTIFY. This node hears itself in the same way. */
@Injectable()
export class PgEventBell extends EventBell implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly listeners = new Set<() => void>();
  private readonly listener: Listener;
  private timer: NodeJS.Timeout | null = null;
  private isRung = false;

  constructor(
    private readonly database: Database,
    config: DatabaseConfig,
    private readonly log: Log,
  ) {
    super();
    this.listener = new Listener(CHANNEL, () => this.heard(), config, log);
  }

  ring(): void {
    this.isRung = true;
    this.timer ??= setTimeout(() => void this.flush(), INTERVAL_MS).unref();
  }

  listen(heard: () => void): () => void {
    this.listeners.add(heard);
    return () => this.listeners.delete(heard);
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.listener.start();
  }

  async onModuleDestroy(): Promise<void> {
    if (this.timer) clearTimeout(this.timer);
    if (this.isRung) await this.flush();
    await this.listener.stop();
  }

  private async flush(): Promise<void> {
    this.timer = null;
    this.isRung = false;
    try {
      await this.database.query(NOTIFY, []);
    } catch (error) {
      this.log.warn('failed to tell other nodes of new events', { error: messageOf(error) });
    }
  }

  private heard(): void {
    for (const listener of this.listeners) listener();
  }
}
