import { Client } from 'pg';
import type { DatabaseConfig } from '../../config/lockstep-config.js';
import { messageOf } from '../../kernel/errors.js';
import type { Log } from '../logging/log.js';
import { commitDurably } from './durable-commits.js';

const RECONNECT_MS = 1_000;

/** What a {@link Listener} listens to, and how its connection and its loss are named. */
export interface Channel {
  readonly name: string;
  /** `application_name` of the connection. */
  readonly application: string;
  /** Logged when the connection is lost. */
  readonly lost: string;
}

/** Listens to one channel of NOTIFY on a connection of its own. A connection that is lost is made again; what is told meanwhile is missed. */
export class Listener {
  private client: Client | null = null;
  private closed = false;

  constructor(
    private readonly channel: Channel,
    private readonly heard: (payload: string) => void,
    private readonly config: DatabaseConfig,
    private readonly log: Log,
  ) {}

  /** Resolves when it listens, or when the first try has failed. Never throws. */
  async start(): Promise<void> {
    if (this.closed) return;
    const client = this.newClient();
    this.client = client;
    try {
      await client.connect();
      await commitDurably(client);
      await client.query(`LISTEN ${this.channel.name}`);
    } catch (error) {
      this.lost(client, error);
    }
  }

  async stop(): Promise<void> {
    this.closed = true;
    await this.client?.end();
  }

  private newClient(): Client {
    const client = new Client({
      connectionString: this.config.url,
      application_name: this.channel.application,
      keepAlive: true,
      // A server that accepts the connection and sends nothing must not block the start.
      connectionTimeoutMillis: this.config.statementTimeout,
      query_timeout: this.config.statementTimeout,
    });
    client.on('notification', ({ payload }) => this.heard(payload ?? ''));
    // One lost connection may cause both events. At the second, `client` is another client already, or null.
    client.on('error', (error) => this.lost(client, error));
    client.on('end', () => this.lost(client, new Error('connection ended')));
    return client;
  }

  private lost(client: Client, error: unknown): void {
    if (this.client !== client) return;
    this.client = null;
    client.end().catch(() => undefined);
    if (this.closed) return;
    this.log.warn(this.channel.lost, { error: messageOf(error) });
    setTimeout(() => void this.start(), RECONNECT_MS).unref();
  }
}
