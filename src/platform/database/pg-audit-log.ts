import { Injectable } from '@nestjs/common';
import { type AdminAction, type AuditEntry, type AuditFilter, AuditLog } from '../../kernel/audit-log.js';
import type { Sized } from '../../kernel/page-bytes.js';
import type { Tx } from '../../kernel/unit-of-work.js';
import { Database } from './database.js';
import { PgTx } from './pg-tx.js';
import { ReadDatabase } from './pools.js';
import { withinPage } from './within-page.js';

const RECORD = {
  name: 'audit_record',
  text: 'INSERT INTO audit_entry (account_id, actor, action, object, detail) VALUES ($1, $2, $3, $4, $5)',
};

/** Two statements, so that each reads the index that fits it: the newest of an account may lie behind many of others. */
const listOf = (ofAccount: string): string =>
  withinPage(
    `SELECT e.seq, e.at, coalesce(a.name, e.account_id::text) AS account, e.actor, e.action, e.object, e.detail
      FROM audit_entry e LEFT JOIN account a USING (account_id)
     WHERE ${ofAccount} AND ($3::bigint IS NULL OR e.seq < $3) AND ($4::text IS NULL OR e.actor = $4) AND ($5::text IS NULL OR e.action = $5)
       AND ($6::text IS NULL OR e.object = $6) AND ($7::timestamptz IS NULL OR e.at >= $7) AND ($8::timestamptz IS NULL OR e.at < $8)
     ORDER BY e.seq DESC LIMIT $2`,
    { order: 'seq DESC', bytes: '300 + octet_length(detail::text)' },
  );
const LIST_ALL = { name: 'audit_list_all', text: listOf('$1::uuid IS NULL') };
const LIST_OF_ACCOUNT = { name: 'audit_list_of_account', text: listOf('e.account_id = $1') };

@Injectable()
export class PgAuditLog extends AuditLog {
  constructor(
    private readonly database: Database,
    private readonly reads: ReadDatabase,
  ) {
    super();
  }

  async record({ by, action, object, detail = {} }: AdminAction, tx?: Tx): Promise<void> {
    const runner = tx === undefined ? this.database : PgTx.of(tx);
    await runner.query(RECORD, [by.account, by.name, action, object, JSON.stringify(detail)]);
  }

  async list(filter: AuditFilter, before: string | null, limit: number): Promise<Sized<AuditEntry>[]> {
    const { account, actor, action, object, since, until } = filter;
    const values = [account, limit, before, actor, action, object, since, until];
    return (await this.reads.query<Sized<AuditEntry>>(account === null ? LIST_ALL : LIST_OF_ACCOUNT, values)).rows;
  }
}
