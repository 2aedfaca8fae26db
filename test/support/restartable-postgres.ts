import { mkdtempSync } from 'node:fs';
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

  async discard(): Promise<void> {
    await this.server.kill();
    removeCluster(this.dataDir);
  }
}
