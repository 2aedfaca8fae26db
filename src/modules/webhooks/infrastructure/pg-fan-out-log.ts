import { Injectable } from '@nestjs/common';
import { WebhooksConfig } from '../../../config/index.js';
import type { Tx } from '../../../kernel/unit-of-work.js';
import { Database } from '../../../platform/database/database.js';
import { PgTx } from '../../../platform/database/pg-tx.js';
import { behindRow, type EventPosition } from '../../events/index.js';
import { FanOutLog, type Match } from '../domain/fan-out-log.js';
import type { Subscriber } from '../domain/webhook-endpoint.js';
import { deliveryValues } from './delivery-values.js';
import { INSERT_DELIVERIES, LOCK_PLACE, MOVE_PLACE, SKIP_UNHEARD, SUBSCRIBERS } from './fan-out.statements.js';
import { type FilterRow, toFilter } from './pg-webhook-endpoints.js';

interface SubscriberRow extends FilterRow {
  readonly endpoint_id: string;
  readonly callback_only: boolean;
}

@Injectable()
export class PgFanOutLog extends FanOutLog {
  constructor(
    private readonly database: Database,
    private readonly config: WebhooksConfig,
  ) {
    super();
  }

  async skipUnheard(): Promise<boolean> {
    const { rows } = await this.database.query<{ heard: boolean }>(SKIP_UNHEARD, []);
    return rows[0]?.heard ?? false;
  }

  async place(tx: Tx): Promise<EventPosition | null> {
    const [row] = (await PgTx.of(tx).query<{ xid: string; seq: string }>(LOCK_PLACE, [])).rows;
    return row === undefined ? null : behindRow(row.xid, row.seq);
  }

  async moveTo(tx: Tx, { xid, seq }: EventPosition): Promise<void> {
    await PgTx.of(tx).query(MOVE_PLACE, [xid.toString(), seq]);
  }

  async subscribers(tx: Tx): Promise<readonly Subscriber[]> {
    const { rows } = await PgTx.of(tx).query<SubscriberRow>(SUBSCRIBERS, []);
    return rows.map((row) => ({ id: row.endpoint_id, callbackOnly: row.callback_only, ...toFilter(row) }));
  }

  async insert(tx: Tx, matches: readonly Match[]): Promise<void> {
    await PgTx.of(tx).query(INSERT_DELIVERIES, deliveryValues(matches, this.config.retryFor));
  }
}
