import { setTimeout as pause } from 'node:timers/promises';
import { afterAll } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { DatabaseConfig } from '../../src/config/lockstep-config.js';
import type { Clock } from '../../src/kernel/clock.js';
import type { SignerId } from '../../src/kernel/signer-id.js';
import type { Lease } from '../../src/modules/signers/domain/lease.js';
import type { LeaseTerms } from '../../src/modules/signers/domain/lease-store.js';
import { PgFencedUnitOfWork } from '../../src/modules/signers/infrastructure/pg-fenced-unit-of-work.js';
import { PgLeaseStore } from '../../src/modules/signers/infrastructure/pg-lease-store.js';
import { createDataSource } from '../../src/platform/database/data-source.js';
import { Database } from '../../src/platform/database/database.js';
import { SystemClock } from '../../src/platform/system-clock.js';
import { aSigner } from './builders.js';
import { Named } from './fakes/fake-node.js';
import { FakeMetrics } from './fakes/fake-metrics.js';
import { Session } from './lab-session.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';

/** Long enough that no lease expires while a test runs: where one has to, the test says so. */
export const TERMS: LeaseTerms = { durationMs: 600_000, clockSkewAllowanceMs: 1_000 };

const POOL_SIZE = 8;

/** How long a condition may take before the test is called wrong. Never waited for when all is well. */
const PATIENCE_MS = 10_000;

/** The product's own lease and fence code, as one node runs it, on a connection pool of its own. */
export interface LabNode {
  readonly id: string;
  readonly database: Database;
  readonly leases: PgLeaseStore;
  readonly fenced: PgFencedUnitOfWork;
}

/** A transaction that holds its locks until the test has it end. */
export interface OpenTransaction {
  /** Of its backend. */
  readonly pid: number;
  commit(): Promise<unknown>;
}

/** A lab with the two nodes that most tests are about; it is closed after the tests of the file that calls this. */
export async function twoNodeLab(
  poolSizes = { first: POOL_SIZE, second: POOL_SIZE },
): Promise<{ lab: FenceLab; first: LabNode; second: LabNode }> {
  const lab = await FenceLab.open();
  afterAll(() => lab.close());
  const first = await lab.node('first', { poolSize: poolSizes.first });
  const second = await lab.node('second', { poolSize: poolSizes.second });
  return { lab, first, second };
}

/** Two or more nodes and any number of plain sessions on one fresh database. */
export class FenceLab {
  private readonly dataSources: DataSource[] = [];
  private readonly sessions: Session[] = [];
  private signers = 0;

  private constructor(
    private readonly testDatabase: TestDatabase,
    /** A connection that holds nothing: it looks, and sets the scene. */
    readonly observer: Session,
  ) {}

  static async open(): Promise<FenceLab> {
    const testDatabase = await createTestDatabase();
    return new FenceLab(testDatabase, await Session.open(testDatabase.url));
  }

  /** Of the database. */
  get url(): string {
    return this.testDatabase.url;
  }

  async close(): Promise<void> {
    await Promise.all(this.sessions.map((session) => session.close()));
    await Promise.all(this.dataSources.map((source) => source.destroy()));
    await this.observer.close();
    await this.testDatabase.drop();
  }

  async node(id: string, options: { poolSize?: number; clock?: Clock } = {}): Promise<LabNode> {
    const config = Object.assign(new DatabaseConfig(), {
      url: this.testDatabase.url,
      poolSize: options.poolSize ?? POOL_SIZE,
    });
    const source = createDataSource(config);
    await source.initialize();
    this.dataSources.push(source);
    const database = new Database(source);
    const clock = options.clock ?? new SystemClock();
    const metrics = new FakeMetrics();
    const fenced = new PgFencedUnitOfWork(database, new Named(id), clock, metrics);
    return { id, database, leases: new PgLeaseStore(database, database), fenced };
  }

  async session(): Promise<Session> {
    const session = await Session.open(this.testDatabase.url);
    this.sessions.push(session);
    return session;
  }

  /** A signer that no other test of the file has touched. */
  freshSigner(): SignerId {
    return aSigner(++this.signers);
  }

  freshSigners(count: number): SignerId[] {
    return Array.from({ length: count }, () => this.freshSigner());
  }

  /** As if the time of the lease had run out `ago` milliseconds ago. */
  async expire(signer: SignerId, ago = 3_600_000): Promise<void> {
    await this.observer.write(
      `UPDATE signer_lease SET expires_at = clock_timestamp() - $3::float8 * interval '1 ms' WHERE chain_id = $1 AND signer = $2`,
      [signer.chainId, signer.address, ago],
    );
  }

  /** Waits until `work` waits for a lock of `blocker`. Fails at once when it was not held off. */
  async heldOffBy(blocker: number, work: Promise<unknown>): Promise<void> {
    await this.heldOffByOneOf([blocker], work);
  }

  /** The same when many share the lock: PostgreSQL waits for one after the other, and this tells for which now. */
  async heldOffByOneOf(blockers: readonly number[], work: Promise<unknown>): Promise<number> {
    const ended = work.then(
      () => 'completed',
      (error: unknown) => `failed: ${String(error)}`,
    );
    let over = false;
    const outcome = await Promise.race([ended, this.someBlocker(blockers, () => over)]);
    over = true;
    if (typeof outcome === 'string') throw new Error(`was not held off: it ${outcome}`);
    return outcome;
  }

  /** The writers end one after the other, each only when `work` is seen to wait for it. */
  async heldOffByAll(writers: readonly OpenTransaction[], work: Promise<unknown>): Promise<void> {
    const open = new Map(writers.map((writer) => [writer.pid, writer]));
    while (open.size > 0) {
      const pid = await this.heldOffByOneOf([...open.keys()], work);
      await open.get(pid)?.commit();
      open.delete(pid);
    }
  }

  private async someBlocker(blockers: readonly number[], over: () => boolean): Promise<number> {
    let found: number | undefined;
    await this.until(async () => {
      found = over() ? 0 : (await this.blocking()).find((pid) => blockers.includes(pid));
      return found !== undefined;
    });
    return found ?? 0;
  }

  /** The backends that others wait for. */
  private async blocking(): Promise<number[]> {
    const rows = await this.observer.run<{ pid: number }>(
      `SELECT DISTINCT unnest(pg_blocking_pids(pid)) AS pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'`,
    );
    return rows.map((row) => row.pid);
  }

  /** How many backends of this database wait for a lock. */
  async waiting(): Promise<number> {
    const rows = await this.observer.run(
      `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
    );
    return rows.length;
  }

  /** The backends that wait for a lock of this one. */
  async blockedBy(blocker: number): Promise<number[]> {
    const rows = await this.observer.run<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND $1 = ANY (pg_blocking_pids(pid))`,
      [blocker],
    );
    return rows.map((row) => row.pid);
  }

  /** Polls a condition, in the database or here; there is nothing to be told by. */
  async until(condition: () => Promise<boolean>): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    while (!(await condition())) {
      if (performance.now() > deadline) throw new Error('the awaited condition never came');
      await pause(2);
    }
  }
}

/** @throws when the lease is not free */
export async function acquire(node: LabNode, signer: SignerId): Promise<Lease> {
  const [lease] = await node.leases.acquire(node.id, [signer], TERMS);
  if (!lease) throw new Error(`${node.id} did not get the lease`);
  return lease;
}

/** The lease moves: its owner lets it go, as far as the database is concerned, and `to` takes over. */
export async function handOver(from: LabNode, lease: Lease, to: LabNode): Promise<Lease> {
  await from.leases.release(from.id, [lease]);
  return acquire(to, lease.signer);
}
