import { execFileSync } from 'node:child_process';
import { appendFileSync, chownSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../src/dev/free-port.js';
import { removeCluster } from '../../src/dev/postgres-home.js';
import { type RunningPostgres, startPostgres } from './postgres.js';

/** A server of its own on a port that stays, for tests that end it under load. Durable: a kill must lose nothing. */
export class RestartablePostgres {
  private constructor(
    private readonly dataDir: string,
    private readonly port: number,
    private server: RunningPostgres,
  ) {}

  static async start(): Promise<RestartablePostgres> {
    const dataDir = mkdtempSync(join(tmpdir(), 'lockstep-postgres-'));
    const port = await freePort();
    return new RestartablePostgres(dataDir, port, await startPostgres({ dataDir, port, durable: true }));
  }

  get url(): string {
    return this.server.url;
  }

  get pid(): number {
    return this.server.pid;
  }

  /** @param how fast shutdown, or as kill -9 does it */
  async restart(how: 'stop' | 'kill'): Promise<void> {
    await this.server[how]();
    this.server = await startPostgres({ dataDir: this.dataDir, port: this.port, durable: true });
  }

  /** What a standby has, or a backup, that gets nothing from now on. */
  async keepCopy(): Promise<void> {
    await this.server.stop();
    copy(this.cluster, this.kept);
    this.server = await startPostgres({ dataDir: this.dataDir, port: this.port, durable: true });
  }

  /**
   * The copy takes the place of the server.
   * @param promoted as a standby is, to a timeline of its own; else it is as if nothing had been written since
   */
  async fallBack({ promoted }: { readonly promoted: boolean }): Promise<void> {
    await this.server.kill();
    const { cluster } = this;
    rmSync(cluster, { recursive: true });
    copy(this.kept, cluster);
    if (promoted) promoteAtStart(cluster);
    this.server = await startPostgres({ dataDir: this.dataDir, port: this.port, durable: true });
  }

  async discard(): Promise<void> {
    await this.server.kill();
    removeCluster(this.dataDir);
  }

  private get cluster(): string {
    const cluster = join(this.dataDir, 'cluster');
    if (!existsSync(cluster)) throw new Error(`the server has its data elsewhere than in ${this.dataDir}`);
    return cluster;
  }

  private get kept(): string {
    return join(this.dataDir, 'kept');
  }
}

/** With the owner and the rights of each file, which the server insists on. */
function copy(from: string, to: string): void {
  execFileSync('cp', ['-a', from, to]);
}

/** It recovers as from an archive, finds nothing there, and goes on as the first on a new timeline. */
function promoteAtStart(cluster: string): void {
  const signal = join(cluster, 'recovery.signal');
  writeFileSync(signal, '');
  const { uid, gid } = statSync(cluster);
  chownSync(signal, uid, gid);
  appendFileSync(join(cluster, 'postgresql.auto.conf'), "restore_command = 'false'\n");
}
