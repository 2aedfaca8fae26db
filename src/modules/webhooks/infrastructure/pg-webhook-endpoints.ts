import { Injectable } from '@nestjs/common';
import { type Actor, AuditLog } from '../../../kernel/audit-log.js';
import type { Caller, Viewer } from '../../../kernel/caller.js';
import { parseAddress } from '../../../kernel/hex.js';
import { Database } from '../../../platform/database/database.js';
import type { PgTx, SqlRunner, SqlValue, Statement } from '../../../platform/database/pg-tx.js';
import { limitValues } from '../../../platform/database/within-limits.js';
import type { PublicEventType } from '../../events/index.js';
import { MOST_PREVIOUS_SECRETS, TooManySecrets } from '../domain/too-many-secrets.js';
import {
  assertWithin,
  type EndpointFilter,
  type EndpointSettings,
  type WebhookEndpoint,
} from '../domain/webhook-endpoint.js';
import {
  type EndpointChange,
  type NewEndpoint,
  type StoredSecrets,
  WebhookEndpoints,
} from '../domain/webhook-endpoints.js';
import * as sql from './endpoint.statements.js';

const DISABLED_BY_CLIENT = 'disabled by PATCH';
/** The most deliveries that one change of a URL makes due; further ones keep their due time. */
const MOST_HASTENED = 100_000;
const HASTENED_AT_ONCE = 1_000;

export interface FilterRow {
  readonly types: string[] | null;
  readonly chain_ids: string[] | null;
  readonly signers: string[] | null;
}

interface EndpointRow extends FilterRow {
  readonly endpoint_id: string;
  readonly account_id: string;
  readonly url: string;
  readonly description: string | null;
  readonly callback_only: boolean;
  readonly previous_secret_until: Date | null;
  readonly disabled_at: Date | null;
  readonly disabled_reason: string | null;
  readonly failing_since: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

@Injectable()
export class PgWebhookEndpoints extends WebhookEndpoints {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditLog,
  ) {
    super();
  }

  add({ id, secret, account, ...settings }: NewEndpoint, most: number, by: Actor): Promise<WebhookEndpoint | null> {
    return this.database.transaction(async (tx) => {
      if (most !== Infinity && (await this.countOf(account, tx)) >= most) return null;
      const { rows } = await tx.query<EndpointRow>(sql.ADD, [id, ...valuesOf(settings), secret, account]);
      await this.record(tx, by, 'createWebhook', id);
      return the(rows);
    });
  }

  find(id: string, viewer: Viewer): Promise<WebhookEndpoint | null> {
    return one(this.database, sql.FIND, [id, ...viewed(viewer)]);
  }

  async list(beforeId: string | null, limit: number, viewer: Viewer): Promise<WebhookEndpoint[]> {
    const { rows } = await this.database.query<EndpointRow>(sql.LIST, [beforeId, limit, ...viewed(viewer)]);
    return rows.map(toEndpoint);
  }

  async change(id: string, { enabled, ...settings }: EndpointChange, caller: Caller): Promise<WebhookEndpoint | null> {
    const changed = await this.database.transaction(async (tx) => {
      const [row] = (await tx.query<EndpointRow>(sql.LOCK, [id, ...viewed(caller)])).rows;
      if (row === undefined) return undefined;
      const changes = { ...settings, enabled };
      const fields = Object.entries(changes).flatMap(([name, value]) => (value === undefined ? [] : [name]));
      await this.record(tx, caller, 'updateWebhook', id, { fields });
      const isEnabled = enabled ?? row.disabled_at === null;
      const wanted = { ...toEndpoint(row), ...settings };
      assertWithin(caller, wanted);
      const values = [id, ...valuesOf(wanted), isEnabled, DISABLED_BY_CLIENT];
      return (await tx.query<EndpointRow & { hastening: boolean }>(sql.CHANGE, values)).rows[0];
    });
    if (changed === undefined) return null;
    if (changed.hastening) await this.hasten(id, changed.url);
    return toEndpoint(changed);
  }

  async completeChanges(most: number): Promise<void> {
    const { rows } = await this.database.query<Pick<EndpointRow, 'endpoint_id' | 'url'>>(sql.UNFINISHED, [most]);
    for (const { endpoint_id, url } of rows) await this.hasten(endpoint_id, url);
  }

  async rotateSecret(id: string, secret: string, keepMs: number, caller: Caller): Promise<WebhookEndpoint | null> {
    const rotated = await this.database.transaction(async (tx) => {
      const changed = await one(tx, sql.ROTATE, [id, secret, keepMs, MOST_PREVIOUS_SECRETS, ...viewed(caller)]);
      if (changed !== null) await this.record(tx, caller, 'rotateWebhookSecret', id, { keepMs });
      return changed;
    });
    if (rotated !== null) return rotated;
    const [full] = (await this.database.query<{ seconds: number | null }>(sql.FIRST_END, [id, ...viewed(caller)])).rows;
    if (full === undefined) return null;
    throw new TooManySecrets(full.seconds ?? 0);
  }

  async secretsOf(id: string): Promise<readonly string[]> {
    const { rows } = await this.database.query<{ secrets: readonly string[] }>(sql.SECRETS, [id]);
    return rows[0]?.secrets ?? [];
  }

  async notEncryptedAs(prefix: string | null, most: number): Promise<readonly StoredSecrets[]> {
    const { rows } = await this.database.query<{ endpoint_id: string; secrets: string[] }>(sql.NOT_ENCRYPTED_AS, [
      prefix,
      most,
    ]);
    return rows.map(({ endpoint_id, secrets }) => ({ id: endpoint_id, secrets }));
  }

  async replaceSecrets({ id, secrets }: StoredSecrets, by: readonly string[]): Promise<boolean> {
    const { rowCount } = await this.database.query(sql.REPLACE_SECRETS, [id, secrets, by]);
    return rowCount === 1;
  }

  remove(id: string, caller: Caller): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      const { rowCount } = await tx.query(sql.REMOVE, [id, ...viewed(caller)]);
      if (rowCount !== 1) return false;
      await this.record(tx, caller, 'deleteWebhook', id);
      return true;
    });
  }

  async disable(id: string, reason: string, onlyAt: string | null = null): Promise<void> {
    await this.database.query(sql.DISABLE, [id, reason, onlyAt]);
  }

  async setFailing(id: string, isFailing: boolean): Promise<void> {
    await this.database.query(sql.SET_FAILING, [id, isFailing]);
  }

  /** Until the transaction ends no other one counts them. */
  private async countOf(account: string, tx: PgTx): Promise<number> {
    await tx.query(sql.LOCK_ACCOUNT, [account]);
    const [row] = (await tx.query<{ count: number }>(sql.COUNT, [account])).rows;
    return row?.count ?? 0;
  }

  /** The new receiver has put off nothing. In short statements: a backlog may be long. */
  private async hasten(id: string, url: string): Promise<void> {
    for (let hastened = 0; hastened < MOST_HASTENED; hastened += HASTENED_AT_ONCE) {
      const { rowCount } = await this.database.query(sql.HASTEN, [id, HASTENED_AT_ONCE]);
      if ((rowCount ?? 0) < HASTENED_AT_ONCE) break;
    }
    await this.database.query(sql.HASTENED, [id, url]);
  }

  /** URLs are left out: they may hold secrets of the receiver. */
  private record(tx: PgTx, by: Actor, action: string, id: string, detail = {}): Promise<void> {
    return this.audit.record({ by, action, object: `webhook:${id}`, detail }, tx);
  }
}

async function one(on: SqlRunner, statement: Statement, values: readonly SqlValue[]): Promise<WebhookEndpoint | null> {
  const { rows } = await on.query<EndpointRow>(statement, values);
  return rows[0] === undefined ? null : toEndpoint(rows[0]);
}

export function toFilter({ types, chain_ids, signers }: FilterRow): EndpointFilter {
  return {
    types: types as PublicEventType[] | null,
    chainIds: chain_ids?.map(Number) ?? null,
    signers: signers?.map(parseAddress) ?? null,
  };
}

function viewed({ account, only }: Viewer): SqlValue[] {
  return [account, ...limitValues(only)];
}

function valuesOf({ url, description, types, chainIds, signers, callbackOnly }: EndpointSettings): SqlValue[] {
  return [url, description, types, chainIds, signers, callbackOnly];
}

function the(rows: readonly EndpointRow[]): WebhookEndpoint {
  const [row] = rows;
  if (row === undefined) throw new TypeError('the statement returned no row');
  return toEndpoint(row);
}

function toEndpoint(row: EndpointRow): WebhookEndpoint {
  return {
    id: row.endpoint_id,
    account: row.account_id,
    url: row.url,
    description: row.description,
    ...toFilter(row),
    callbackOnly: row.callback_only,
    disabled: row.disabled_at && { since: row.disabled_at, reason: row.disabled_reason ?? '' },
    failingSince: row.failing_since,
    previousSecretUntil: row.previous_secret_until,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
