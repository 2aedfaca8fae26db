import { randomUUID } from 'node:crypto';
import { ANYONE, DEFAULT_ACCOUNT } from '../../src/kernel/caller.js';
import { WebhooksConfig } from '../../src/config/index.js';
import type { SqlValue } from '../../src/platform/database/pg-tx.js';
import { PgAuditLog } from '../../src/platform/database/pg-audit-log.js';
import type { Database } from '../../src/platform/database/database.js';
import type { TxEvent } from '../../src/modules/events/index.js';
import { PgEventLog } from '../../src/modules/events/infrastructure/pg-event-log.js';
import { PgEventReader } from '../../src/modules/events/infrastructure/pg-event-reader.js';
import { FanOut } from '../../src/modules/webhooks/application/fan-out.js';
import type { NewEndpoint } from '../../src/modules/webhooks/domain/webhook-endpoints.js';
import { PgFanOutLog } from '../../src/modules/webhooks/infrastructure/pg-fan-out-log.js';
import { PgWebhookEndpoints } from '../../src/modules/webhooks/infrastructure/pg-webhook-endpoints.js';
import { aHash, aSigner } from './builders.js';
import { SilentEventBell } from './fakes/silent-event-bell.js';
import { type StoredRows, txIdOf } from './stored-rows.js';
import { until } from './until.js';

/** A delivery as it is stored. */
export interface DeliveryRow {
  readonly endpoint_id: string;
  readonly seq: string;
  readonly part: number;
  readonly type: string;
  readonly tx_id: string | null;
  readonly body: string;
  readonly status: string;
  readonly tries: number;
  readonly error: string | null;
  readonly answer_status: number | null;
  readonly answer_body: string | null;
  readonly due_at: Date;
  readonly tried_at: Date | null;
}

/** What stores and fans out webhooks, on one database. */
export class WebhookLab {
  readonly config = new WebhooksConfig();
  readonly endpoints: PgWebhookEndpoints;
  readonly reader: PgEventReader;
  readonly fanOut: FanOut;
  private readonly log = new PgEventLog(new SilentEventBell());

  constructor(
    readonly stored: StoredRows,
    readonly database: Database = stored.node.database,
  ) {
    this.endpoints = new PgWebhookEndpoints(database, new PgAuditLog(database, database));
    this.reader = new PgEventReader(database);
    this.fanOut = new FanOut(database, this.reader, new PgFanOutLog(database, this.config));
  }

  /** @returns its id */
  async endpoint(overrides: Partial<NewEndpoint> = {}): Promise<string> {
    const endpoint = this.newEndpoint(overrides);
    await this.endpoints.add(endpoint, Infinity, ANYONE);
    return endpoint.id;
  }

  newEndpoint(overrides: Partial<NewEndpoint> = {}): NewEndpoint {
    return {
      id: randomUUID(),
      account: DEFAULT_ACCOUNT,
      url: 'https://example.com/',
      description: null,
      types: null,
      chainIds: null,
      signers: null,
      callbackOnly: false,
      secret: `whsec_${Buffer.alloc(32).toString('base64')}`,
      ...overrides,
    };
  }

  /** Commits one event of a tx; it has as `data.txHash` the hash of `mark`. */
  commit(tx: number, mark: number, more: Partial<TxEvent> = {}): Promise<void> {
    const event: TxEvent = {
      signer: aSigner(),
      txId: txIdOf(tx),
      reason: 'sent',
      from: 'ALLOCATED',
      to: 'IN_MEMPOOL',
      txHash: aHash(mark),
      ...more,
    };
    const author = { nodeId: 'first', tokenFor: () => 1n };
    return this.database.transaction((open) => this.log.append(open, author, [event]));
  }

  /** Until every event that was committed is a delivery: database transactions of other files may hold the reader back. */
  async fanOutAll(): Promise<void> {
    await until('all events are fanned out', async () => {
      const { hasMore, isHeldBack } = await this.fanOut.execute();
      return !hasMore && !isHeldBack;
    });
  }

  deliveries(where = 'true'): Promise<DeliveryRow[]> {
    return this.stored.read<DeliveryRow>(
      `SELECT * FROM webhook_delivery WHERE ${where} ORDER BY endpoint_id, xid, seq, part`,
    );
  }

  async run(sql: string, values: readonly SqlValue[] = []): Promise<void> {
    await this.stored.lab.observer.run(sql, values);
  }
}

/** Of a delivery or a body that was sent: the mark of its event. */
export function markOf(body: string): number {
  return Number((JSON.parse(body) as { data: { txHash: string } }).data.txHash);
}
