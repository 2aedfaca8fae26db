import { jetstream, type JetStreamClient, jetstreamManager } from '@nats-io/jetstream';
import {
  connect,
  credsAuthenticator,
  nanos,
  type NatsConnection as Connection,
  type NodeConnectionOptions,
} from '@nats-io/transport-node';
import type { SinkMetrics } from '../event-sink.js';
import type { NatsConfig } from './nats-config.js';
import { connectFailure, isMissingStream, streamFailure } from './nats-failures.js';

const CONNECT_TIMEOUT_MS = 5_000;
/** A server that says nothing for two of these is given up. */
const PING_INTERVAL_MS = 5_000;
const MAX_AGE_MS = 7 * 24 * 3_600_000;
/** An event that is published again within this time is dropped by the server. */
const DUPLICATE_WINDOW_MS = 10 * 60_000;

/**
 * The connection to NATS, opened when it is needed. The client's own reconnects are off: they would send what waits in its buffer after what
 * was lost with the last connection, and so change the order.
 */
export class NatsConnection {
  private current: Connection | null = null;

  constructor(
    private readonly config: NatsConfig,
    private readonly metrics: SinkMetrics,
  ) {}

  /** @throws PublishFailed */
  async open(): Promise<JetStreamClient> {
    if (this.current !== null) return jetstream(this.current);
    const connection = await connect(optionsOf(this.config)).catch((error: unknown) => {
      throw connectFailure(error);
    });
    this.current = connection;
    this.metrics.set('broker_connected', 1);
    void connection.closed().then(() => this.ended(connection));
    if (this.config.createStream) await this.createStream(connection);
    return jetstream(connection);
  }

  /** What waits in it is not sent any more. */
  async close(): Promise<void> {
    const { current } = this;
    if (current === null) return;
    this.ended(current);
    await current.close();
  }

  private ended(connection: Connection): void {
    if (this.current !== connection) return;
    this.current = null;
    this.metrics.set('broker_connected', 0);
  }

  private async createStream(connection: Connection): Promise<void> {
    const { stream, subjectPrefix } = this.config;
    try {
      const { streams } = await jetstreamManager(connection, { checkAPI: false });
      await streams.info(stream).catch(async (error: unknown) => {
        if (!isMissingStream(error)) throw error;
        await streams.add({
          name: stream,
          subjects: [`${subjectPrefix}.>`],
          max_age: nanos(MAX_AGE_MS),
          duplicate_window: nanos(DUPLICATE_WINDOW_MS),
        });
      });
    } catch (error) {
      await this.close();
      throw streamFailure(error, this.config);
    }
  }
}

function optionsOf({ urls, user, password, token, creds }: NatsConfig): NodeConnectionOptions {
  return {
    servers: urls,
    name: 'lockstep',
    reconnect: false,
    timeout: CONNECT_TIMEOUT_MS,
    pingInterval: PING_INTERVAL_MS,
    noAsyncTraces: true,
    ...(user !== undefined && password !== undefined && { user, pass: password }),
    ...(token !== undefined && { token }),
    ...(creds !== undefined && { authenticator: credsAuthenticator(new TextEncoder().encode(creds)) }),
    // Otherwise the server decides.
    ...(urls.some((url) => url.startsWith('tls://')) && { tls: {} }),
  };
}
