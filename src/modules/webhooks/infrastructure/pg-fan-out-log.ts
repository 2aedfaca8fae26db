import { Injectable } from '@nestjs/common';
import { WebhooksConfig } from '../../../config/index.js';
import { inSlices } from '../../../kernel/in-slices.js';
import type { Tx } from '../../../kernel/unit-of-work.js';
import { Database } from '../../../platform/database/database.js';
import { PgTx, type SqlValue } from '../../../platform/database/pg-tx.js';
import { behindRow, bodyOf, type EventPosition } from '../../events/index.js';
import { FanOutLog, type Match } from '../domain/fan-out-log.js';
import type { Subscriber } from '../domain/webhook-endpoint.js';
import { EnabledEndpoints } from './enabled-endpoints.js';
import { FILTERS, INSERT_DELIVERIES, LOCK_PLACE, MOVE_PLACE, PLACE, SUBSCRIBERS } from './fan-out.statements.js';
import { type FilterRow, toFilter } from './pg-webhook-endpoints.js';

const FILTERS_AT_ONCE = 100;

interface VersionRow {
  readonly endpoint_id: string;
  /** Changes with the filter. */
  readonly version: string;
}

interface SubscriberRow extends FilterRow, VersionRow {
  readonly account_id: string;
  readonly callback_only: boolean;
}

interface Known {
  readonly version: string;
  readonly subscriber: Subscriber;
}

@Injectable()
export class PgFanOutLog extends FanOutLog {
  /** Filters have up to 1,000 addresses: they are read and parsed only when they have changed. */
  private known: ReadonlyMap<string, Known> = new Map();
  private readonly endpoints = new EnabledEndpoints();

  constructor(
    private readonly database: Database,
    private readonly config: WebhooksConfig,
  ) {
    super();
  }

  async place(): Promise<EventPosition | null> {
    const [row] = (await this.database.query<{ xid: string; seq: string }>(PLACE, [])).rows;
    return row === undefined ? null : behindRow(row.xid, row.seq);
  }

  async lock(tx: Tx, { xid, seq }: EventPosition): Promise<boolean> {
    return (await PgTx.of(tx).query(LOCK_PLACE, [xid.toString(), seq])).rowCount === 1;
  }

  async moveTo(tx: Tx, { xid, seq }: EventPosition): Promise<void> {
    await PgTx.of(tx).query(MOVE_PLACE, [xid.toString(), seq]);
  }

  async subscribers(): Promise<readonly Subscriber[]> {
    const rows = await this.endpoints.readAll(
      async (after, most) => (await this.database.query<VersionRow>(SUBSCRIBERS, [after, most])).rows,
    );
    const changed = rows.filter((row) => this.known.get(row.endpoint_id)?.version !== row.version);
    const ids = changed.map((row) => row.endpoint_id);
    const read: SubscriberRow[] = [];
    for (const some of inSlices(ids, FILTERS_AT_ONCE)) {
      read.push(...(await this.database.query<SubscriberRow>(FILTERS, [some])).rows);
    }
    const young = new Map(
      read.map((row) => [row.endpoint_id, { version: row.version, subscriber: toSubscriber(row) }]),
    );
    const stale = new Set(ids);
    const entries = rows.flatMap(({ endpoint_id: id }): [string, Known][] => {
      const one = stale.has(id) ? young.get(id) : this.known.get(id);
      return one === undefined ? [] : [[id, one]];
    });
    this.known = new Map(entries);
    return entries.map(([, { subscriber }]) => subscriber);
  }

  async insert(tx: Tx, matches: readonly Match[]): Promise<void> {
    await PgTx.of(tx).query(INSERT_DELIVERIES, deliveryValues(matches, this.config.retryFor));
  }
}

function toSubscriber(row: SubscriberRow): Subscriber {
  const { types, chainIds, signers } = toFilter(row);
  return {
    id: row.endpoint_id,
    account: row.account_id,
    callbackOnly: row.callback_only,
    types,
    // Lists of a thousand took the fan-out a second per page.
    chainIds: chainIds && new Set(chainIds),
    signers: signers && new Set(signers),
  };
}

/** What the statements that insert deliveries take: each event once, and each match as the number of its event (from 1) and its endpoint. */
export function deliveryValues(matches: readonly Match[], retryForMs: number): SqlValue[] {
  const events = [...new Set(matches.map(({ event }) => event))];
  const numbers = new Map(events.map((event, at) => [event, at + 1]));
  return [
    events.map(({ position }) => position.xid.toString()),
    events.map(({ position }) => position.seq),
    events.map(({ position }) => position.part),
    events.map(({ txId }) => txId),
    events.map(({ type }) => type),
    events.map((event) => JSON.stringify(bodyOf(event))),
    events.map(({ time }) => time),
    matches.map(({ event }) => numbers.get(event) ?? 0),
    matches.map(({ endpointId }) => endpointId),
    retryForMs,
  ];
}
