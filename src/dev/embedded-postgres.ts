import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { type DetachedProcess, spawnDetached } from './detached-process.js';
import { freePort } from './free-port.js';
import { DATABASE, initCluster, serverEnvironment, urlOf } from './init-cluster.js';
import { LaunchError } from './launch-error.js';
import { stopLeftoverPostgres } from './leftover-postgres.js';
import { type Log, silent } from './log.js';
import { poll } from './poll.js';
import { program } from './postgres-binaries.js';
import { type PostgresHome, preparePostgresHome } from './postgres-home.js';
import type { ProcessIdentity } from './process-identity.js';

export interface PostgresOptions {
  /** Created when missing. */
  readonly dataDir: string;
  /** A free port by default. */
  readonly port?: number;
  /** False for tests: nothing is flushed to the disk, so a crash of the machine loses the data. */
  readonly durable: boolean;
  readonly log?: Log;
}

export interface RunningPostgres {
  /** URL of the database `lockstep`, with superuser and password. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly identity: ProcessIdentity;
  /** Fast shutdown: open transactions are rolled back, the data is flushed. */
  stop(): Promise<void>;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
}

const READY_TIMEOUT_MS = 60_000;
/** After a kill -9 the workers of the old server run for another moment, and a new server refuses to start until they end. */
const OLD_WORKERS_ALIVE = 'pre-existing shared memory block';

/** Starts a real PostgreSQL server on 127.0.0.1, with its data in `dataDir`; ready to connect when this returns. */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const log = options.log ?? silent;
  const home = await preparePostgresHome(options.dataDir, log);
  await initCluster(home, options.durable);
  await stopLeftoverPostgres(home.cluster, log);
  const port = options.port ?? (await freePort());
  const server = await launch(home, port, options.durable);
  await createDatabase(home, port);
  return {
    url: urlOf(home, port, DATABASE),
    port,
    pid: server.identity.pid,
    identity: server.identity,
    async stop() {
      await server.stop('SIGINT', 30_000);
    },
    async kill() {
      await server.stop('SIGKILL', 30_000);
    },
  };
}

async function launch(home: PostgresHome, port: number, durable: boolean): Promise<DetachedProcess> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    const server = await spawnDetached({
      command: program(home.binaries, 'postgres'),
      args: serverArguments(home, port, durable),
      cwd: '/',
      env: serverEnvironment(),
      output: { file: home.logFile },
      ...(home.user && { uid: home.user.uid, gid: home.user.gid }),
    });
    if (await accepts(server, urlOf(home, port, 'postgres'), deadline - performance.now())) return server;
    await server.stop('SIGKILL', 5_000);
    const logged = readFileSync(home.logFile, 'utf8').trim();
    if (!logged.includes(OLD_WORKERS_ALIVE) || performance.now() > deadline) {
      throw new LaunchError(`PostgreSQL did not start. End of its log (${home.logFile}):\n${logged.slice(-2_000)}`);
    }
    await sleep(200);
  }
}

function serverArguments(home: PostgresHome, port: number, durable: boolean): string[] {
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    // No socket: its path is limited to 107 bytes, and nothing here needs one.
    unix_socket_directories: '',
    max_connections: '300',
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...(durable ? {} : { fsync: 'off', full_page_writes: 'off' }),
  };
  return ['-D', home.cluster, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

/** @returns false when the server ended, or did not answer in time */
async function accepts(server: DetachedProcess, url: string, timeoutMs: number): Promise<boolean> {
  const answer = await poll(timeoutMs, async () => {
    if (server.exitStatus) return false;
    return (await query(url, 'SELECT 1').catch(() => null)) && true;
  });
  return answer ?? false;
}

async function createDatabase(home: PostgresHome, port: number): Promise<void> {
  const admin = urlOf(home, port, 'postgres');
  const found = await query(admin, `SELECT 1 FROM pg_database WHERE datname = '${DATABASE}'`);
  if (found.length === 0) await query(admin, `CREATE DATABASE ${DATABASE}`);
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}
