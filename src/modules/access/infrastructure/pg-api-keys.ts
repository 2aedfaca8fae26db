import { Injectable } from '@nestjs/common';
import { type Actor, AuditLog } from '../../../kernel/audit-log.js';
import { isScope } from '../../../kernel/caller.js';
import { signerOfKey } from '../../../kernel/signer-id.js';
import { Database } from '../../../platform/database/database.js';
import type { PgTx, SqlValue } from '../../../platform/database/pg-tx.js';
import { limitValues } from '../../../platform/database/within-limits.js';
import type { ApiKey, KeyManager } from '../domain/api-key.js';
import { ApiKeys, type FreshKey, type KeyUse, type LiveKey, type NewKey } from '../domain/api-keys.js';
import * as sql from './key.statements.js';

interface KeyRow {
  readonly key_id: string;
  readonly account_id: string;
  readonly name: string;
  readonly scopes: string[];
  readonly signers: string[] | null;
  readonly chain_ids: string[] | null;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
  readonly last_used_at: Date | null;
  readonly created_at: Date;
}

interface LiveRow extends KeyRow {
  readonly secret_hash: string;
  readonly ends_in_ms: number | null;
}

@Injectable()
export class PgApiKeys extends ApiKeys {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditLog,
  ) {
    super();
  }

  add(key: NewKey, by: Actor): Promise<ApiKey> {
    return this.database.transaction(async (tx) => {
      const { id, name, account, scopes, only } = key;
      const [signers, chainIds] = limitValues(only);
      const detail = { name, account, scopes, signers, chainIds };
      await this.audit.record({ by, action: 'createKey', object: `key:${id}`, detail }, tx);
      return addOn(tx, key);
    });
  }

  async find(id: string, manager: KeyManager): Promise<ApiKey | null> {
    const { rows } = await this.database.query<KeyRow>(sql.FIND, [id, ...valuesOf(manager)]);
    return rows[0] === undefined ? null : toKey(rows[0]);
  }

  async list(beforeId: string | null, limit: number, manager: KeyManager): Promise<ApiKey[]> {
    const { rows } = await this.database.query<KeyRow>(sql.LIST, [beforeId, limit, ...valuesOf(manager)]);
    return rows.map(toKey);
  }

  async live(): Promise<LiveKey[]> {
    const { rows } = await this.database.query<LiveRow>(sql.LIVE, []);
    return rows.map((row) => ({ key: toKey(row), hash: row.secret_hash, endsInMs: row.ends_in_ms ?? Infinity }));
  }

  rotate(id: string, fresh: FreshKey, overlapMs: number, by: Actor): Promise<ApiKey | null> {
    return this.database.transaction(async (tx) => {
      const [row] = (await tx.query<KeyRow>(sql.LOCK, [id])).rows;
      if (row === undefined) return null;
      await tx.query(sql.REVOKE_AFTER, [id, overlapMs]);
      const detail = { newKey: fresh.id, overlapMs };
      await this.audit.record({ by, action: 'rotateKey', object: `key:${id}`, detail }, tx);
      const old = toKey(row);
      return addOn(tx, { ...old, ...fresh, expiresAt: fresh.expiresAt ?? old.expiresAt });
    });
  }

  revoke(id: string, manager: KeyManager, by: Actor): Promise<ApiKey | null> {
    return this.database.transaction(async (tx) => {
      const [row] = (await tx.query<KeyRow>(sql.REVOKE, [id, ...valuesOf(manager)])).rows;
      if (row === undefined) return null;
      await this.audit.record({ by, action: 'revokeKey', object: `key:${id}` }, tx);
      return toKey(row);
    });
  }

  async recordUses(uses: readonly KeyUse[]): Promise<void> {
    await this.database.query(sql.RECORD_USES, [uses.map(({ id }) => id), uses.map(({ agoMs }) => agoMs)]);
  }
}

async function addOn(tx: PgTx, key: NewKey): Promise<ApiKey> {
  const { id, account, name, hash, scopes, expiresAt, only } = key;
  const values: SqlValue[] = [id, account, name, hash, scopes, expiresAt, ...limitValues(only)];
  const [row] = (await tx.query<KeyRow>(sql.ADD, values)).rows;
  if (row === undefined) throw new TypeError('the statement returned no row');
  return toKey(row);
}

function valuesOf({ account, only }: KeyManager): SqlValue[] {
  return [account, ...limitValues(only)];
}

function toKey(row: KeyRow): ApiKey {
  return {
    id: row.key_id,
    account: row.account_id,
    name: row.name,
    // A scope that a newer version gave is of no use here.
    scopes: row.scopes.filter(isScope),
    only: {
      signers: row.signers?.flatMap((text) => signerOfKey(text) ?? []) ?? null,
      chainIds: row.chain_ids?.map(Number) ?? null,
    },
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
    createdAt: row.created_at,
  };
}
