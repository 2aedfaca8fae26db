import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Client } from 'pg';
import { DatabaseConfig, NodeConfig } from '../../../config/lockstep-config.js';
import { Clock } from '../../../kernel/clock.js';
import { messageOf } from '../../../kernel/errors.js';
import { inSlices } from '../../../kernel/in-slices.js';
import { parseSigner, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { Database } from '../../../platform/database/database.js';
import { commitDurably } from '../../../platform/database/durable-commits.js';
import { Log } from '../../../platform/logging/log.js';
import { LeaseManager } from '../../signers/index.js';
import { Doorbell } from '../application/writing/doorbell.js';
import { LaneWaker } from '../application/writing/lane-waker.js';

const CHANNEL = 'lockstep_work';
/** A payload of NOTIFY is limited to 8,000 bytes; a signer takes at most 60. */
const SIGNERS_PER_NOTE = 100;
/** At most one NOTIFY in so many ms: each takes a lock that is shared by all of the database's commits. The first goes at once. */
const COALESCE_MS = 4;
const RECONNECT_MS = 1_000;
const NOTIFY = { name: 'doorbell_notify', text: `SELECT pg_notify('${CHANNEL}', $1)` };

/**
 * LISTEN/NOTIFY between nodes, sent after commit. A bell that is lost costs a polling interval: while the connection is away
 * polling finds all work.
 */
@Injectable()
export class PgDoorbell extends Doorbell implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly pending = new Map<string, SignerId>();
  private timer: NodeJS.Timeout | null = null;
  private rungAt = 0;
  private listener: Client | null = null;
  private closed = false;

  constructor(
    private readonly database: Database,
    private readonly config: DatabaseConfig,
    private readonly role: NodeConfig,
    private readonly lanes: LaneWaker,
    private readonly leases: LeaseManager,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {
    super();
  }

  ring(signers: readonly SignerId[]): void {
    const ours = signers.filter((signer) => this.leases.isOurs(signer));
    this.lanes.wake(ours);
    for (const signer of signers) if (!ours.includes(signer)) this.pending.set(signerKey(signer), signer);
    if (this.pending.size === 0 || this.timer !== null) return;
    const wait = Math.max(0, this.rungAt + COALESCE_MS - this.clock.monotonicMs());
    this.timer = setTimeout(() => void this.flush(), wait);
  }

  async onApplicationBootstrap(): Promise<void> {
    if (this.role.acts) await this.listen();
  }

  async onModuleDestroy(): Promise<void> {
    this.closed = true;
    if (this.timer) clearTimeout(this.timer);
    await this.flush();
    await this.listener?.end();
  }

  private async flush(): Promise<void> {
    const keys = [...this.pending.keys()];
    this.pending.clear();
    this.timer = null;
    this.rungAt = this.clock.monotonicMs();
    try {
      for (const some of inSlices(keys, SIGNERS_PER_NOTE)) await this.database.query(NOTIFY, [some.join(' ')]);
    } catch (error) {
      this.log.warn('the doorbell could not be rung', { error: messageOf(error) });
    }
  }

  private async listen(): Promise<void> {
    if (this.closed) return;
    const client = new Client({
      connectionString: this.config.url,
      application_name: 'lockstep-doorbell',
      keepAlive: true,
      // A server that takes the connection and says nothing must not hold the start up.
      connectionTimeoutMillis: this.config.statementTimeout,
      query_timeout: this.config.statementTimeout,
    });
    client.on('notification', ({ payload }) => this.heard(payload ?? ''));
    // Both events may come for one loss; the second finds another listener, or none, in its place.
    client.on('error', (error) => this.lost(client, error));
    client.on('end', () => this.lost(client, new Error('connection ended')));
    this.listener = client;
    try {
      await client.connect();
      await commitDurably(client);
      await client.query(`LISTEN ${CHANNEL}`);
    } catch (error) {
      this.lost(client, error);
    }
  }

  private lost(client: Client, error: unknown): void {
    if (this.listener !== client) return;
    this.listener = null;
    client.end().catch(() => undefined);
    if (this.closed) return;
    this.log.warn('the doorbell is off; polling finds work meanwhile', { error: messageOf(error) });
    setTimeout(() => void this.listen(), RECONNECT_MS).unref();
  }

  private heard(payload: string): void {
    const signers = payload.split(' ').flatMap((key): SignerId[] => {
      const [, chainId, address] = /^(\d+):(0x[0-9a-f]{40})$/.exec(key) ?? [];
      return chainId === undefined || address === undefined ? [] : [parseSigner(chainId, address)];
    });
    this.lanes.wake(signers.filter((signer) => this.leases.isOurs(signer)));
  }
}
