import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstream, type JetStreamManager, jetstreamManager, type StreamConfig } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { type DetachedProcess, spawnDetached } from '../../src/dev/detached-process.js';
import { freePort } from '../../src/dev/free-port.js';
import { poll } from '../../src/dev/poll.js';

const PROGRAM = process.env['NATS_SERVER_BIN'] || 'nats-server';
const READY_TIMEOUT_MS = 20_000;
const STOP_GRACE_MS = 10_000;

export interface StreamMessage {
  readonly subject: string;
  readonly id: string;
  readonly type: string;
  readonly body: { readonly id: string; readonly type: string; readonly data: Readonly<Record<string, unknown>> };
}

/** A real nats-server with JetStream on 127.0.0.1, in a folder of its own. */
export class NatsServer {
  private process: DetachedProcess | null = null;
  private readonly logFile: string;

  private constructor(
    readonly url: string,
    private readonly folder: string,
    /** How tests themselves log in. */
    private readonly login: { readonly user?: string; readonly pass?: string },
  ) {
    this.logFile = join(folder, 'nats.log');
  }

  /** @param more lines of its config file, such as users */
  static async start(more = '', login: { readonly user?: string; readonly pass?: string } = {}): Promise<NatsServer> {
    const port = await freePort();
    const folder = mkdtempSync(join(tmpdir(), 'lockstep-nats-'));
    const lines = [`listen: "127.0.0.1:${port}"`, `jetstream: { store_dir: "${folder}" }`, more];
    writeFileSync(join(folder, 'nats.conf'), lines.join('\n'));
    const server = new NatsServer(`nats://127.0.0.1:${port}`, folder, login);
    try {
      await server.boot();
    } catch (error) {
      await server.stop();
      throw new Error(`nats-server did not start (${PROGRAM}; NATS_SERVER_BIN names another): ${String(error)}`, {
        cause: error,
      });
    }
    return server;
  }

  /** Again on the same port, with the streams it had. */
  async boot(): Promise<void> {
    const server = await spawnDetached({
      command: PROGRAM,
      args: ['-c', join(this.folder, 'nats.conf')],
      output: { file: this.logFile },
    });
    this.process = server;
    const ready = await poll(READY_TIMEOUT_MS, async () => {
      if (server.exitStatus) return false;
      return this.with(async (_streams, connection) => {
        await connection.flush();
        return true as const;
      }).catch(() => null);
    });
    if (ready !== true) throw new Error(readFileSync(this.logFile, 'utf8').slice(-2_000));
  }

  /** kill -9. */
  async kill(): Promise<void> {
    await this.process?.stop('SIGKILL', STOP_GRACE_MS);
  }

  async stop(): Promise<void> {
    await this.process?.stop('SIGTERM', STOP_GRACE_MS);
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** On a connection of its own. */
  async with<T>(work: (streams: JetStreamManager, connection: NatsConnection) => Promise<T>): Promise<T> {
    const connection = await connect({ servers: this.url, reconnect: false, ...this.login });
    try {
      return await work(await jetstreamManager(connection, { checkAPI: false }), connection);
    } finally {
      await connection.close();
    }
  }

  async addStream(stream: Partial<StreamConfig> & { readonly name: string }): Promise<void> {
    await this.with(({ streams }) => streams.add(stream));
  }

  countOf(stream: string): Promise<number> {
    return this.with(async ({ streams }) => (await streams.info(stream)).state.messages);
  }

  /** What a new consumer gets from the stream, in order. */
  messagesOf(stream: string): Promise<StreamMessage[]> {
    return this.with(async ({ streams }, connection) => {
      const { messages: count } = (await streams.info(stream)).state;
      const found: StreamMessage[] = [];
      if (count === 0) return found;
      const consumer = await jetstream(connection).consumers.get(stream);
      for await (const message of await consumer.fetch({ max_messages: count, expires: 20_000 })) {
        const { subject, headers } = message;
        const [id, type] = [headers?.get('Nats-Msg-Id') ?? '', headers?.get('Lockstep-Event-Type') ?? ''];
        found.push({ subject, id, type, body: message.json() });
      }
      return found;
    });
  }
}
