import { Injectable } from '@nestjs/common';
import { type Actor, AuditLog } from '../../../kernel/audit-log.js';
import { WebhooksConfig } from '../../../config/index.js';
import { Database } from '../../../platform/database/database.js';
import { eventId, type EventPosition } from '../../events/index.js';
import type { DeliveryStatus, DeliveryView } from '../domain/delivery.js';
import { DeliveryLog, type DeliveryWithBody } from '../domain/delivery-log.js';
import type { Match } from '../domain/fan-out-log.js';
import { FIND_DELIVERY, INSERT_OR_REPEAT, listOf, REPLAY, REPLAY_DEAD } from './delivery-log.statements.js';
import { deliveryValues } from './pg-fan-out-log.js';
import { type KeyRow, toPosition } from './pg-delivery-queue.js';

interface DeliveryRow extends Omit<KeyRow, 'endpoint_id'> {
  readonly type: string;
  readonly tx_id: string | null;
  readonly status: DeliveryStatus;
  readonly tries: number;
  readonly due_at: Date;
  readonly answer_status: number | null;
  readonly answer_body: string | null;
  readonly error: string | null;
  readonly tried_at: Date | null;
  readonly event_at: Date;
}

@Injectable()
export class PgDeliveryLog extends DeliveryLog {
  constructor(
    private readonly database: Database,
    private readonly config: WebhooksConfig,
    private readonly audit: AuditLog,
  ) {
    super();
  }

  async list(
    endpointId: string,
    status: DeliveryStatus | null,
    before: EventPosition | null,
    limit: number,
  ): Promise<DeliveryView[]> {
    const place = before === null ? [null, null, null] : valuesOf(before);
    const { rows } = await this.database.query<DeliveryRow>(listOf(status), [endpointId, ...place, limit]);
    return rows.map(toView);
  }

  async find(endpointId: string, position: EventPosition): Promise<DeliveryWithBody | null> {
    const values = [endpointId, ...valuesOf(position)];
    const [row] = (await this.database.query<DeliveryRow & { body: string }>(FIND_DELIVERY, values)).rows;
    return row === undefined ? null : { ...toView(row), body: row.body };
  }

  replay(endpointId: string, position: EventPosition, by: Actor): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      const values = [endpointId, ...valuesOf(position), this.config.retryFor];
      if ((await tx.query(REPLAY, values)).rows.length === 0) return false;
      const detail = { eventId: eventId(position) };
      await this.audit.record({ by, action: 'replayWebhookDelivery', object: `webhook:${endpointId}`, detail }, tx);
      return true;
    });
  }

  replayDead(endpointId: string, limit: number, by: Actor): Promise<number> {
    return this.database.transaction(async (tx) => {
      const { rowCount } = await tx.query(REPLAY_DEAD, [endpointId, limit, this.config.retryFor]);
      const detail = { status: 'dead', replayed: rowCount };
      await this.audit.record({ by, action: 'replayWebhookDeliveries', object: `webhook:${endpointId}`, detail }, tx);
      return rowCount ?? 0;
    });
  }

  async insertOrRepeat(matches: readonly Match[]): Promise<number> {
    const values = deliveryValues(matches, this.config.retryFor);
    return (await this.database.query(INSERT_OR_REPEAT, values)).rowCount ?? 0;
  }
}

function valuesOf({ xid, seq, part }: EventPosition): (string | bigint | number)[] {
  return [xid.toString(), seq, part];
}

function toView(row: DeliveryRow): DeliveryView {
  return {
    eventId: eventId(toPosition(row)),
    type: row.type,
    txId: row.tx_id,
    status: row.status,
    tries: row.tries,
    dueAt: row.status === 'waiting' ? row.due_at : null,
    answerStatus: row.answer_status,
    answerBody: row.answer_body,
    error: row.error,
    triedAt: row.tried_at,
    eventAt: row.event_at,
  };
}
