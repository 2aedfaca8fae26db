import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../../kernel/audit-log.js';
import type { Sized } from '../../../kernel/page-bytes.js';
import { parseSigner, type SignerId, signerKey } from '../../../kernel/signer-id.js';
import type { Tx } from '../../../kernel/unit-of-work.js';
import { Database } from '../../../platform/database/database.js';
import { PgTx, type SqlRunner } from '../../../platform/database/pg-tx.js';
import { withinPage } from '../../../platform/database/within-page.js';
import { toPolicy, toRules, type WrittenRules } from '../domain/policy-rules.js';
import {
  type PolicyChange,
  type PolicyChanged,
  type PolicyNews,
  StoredPolicies,
  type StoredPolicy,
} from '../domain/stored-policies.js';

const COLUMNS = 's.chain_id, s.signer, s.version, s.rules, s.changed_by, s.changed_at';

const markOf = (policy: string): string => `${policy}.seq || ' ' || extract(epoch FROM ${policy}.changed_at)`;

/**
 * SQL: the mark of the last change of any policy by the API. It is read once for a statement, however many rows that has. With the time, because a
 * database that lost its last commits gives their numbers again.
 */
export const POLICY_MARK = `coalesce((SELECT ${markOf('l')} FROM signer_policy l ORDER BY l.seq DESC LIMIT 1), '')`;

/**
 * Reads what was changed after the change that is known. Where that is not there, it reads one version of each signer. When nothing is new, one row
 * without a policy.
 */
export const POLICY_NEWS = {
  name: 'policy_news',
  text: `
    SELECT m.mark, k.seq IS NULL AS is_all, p.* FROM (SELECT ${POLICY_MARK} AS mark) m
      LEFT JOIN (SELECT s.seq FROM signer_policy s WHERE s.seq = $2::bigint AND ${markOf('s')} = $1) k ON true
      LEFT JOIN LATERAL (
        (SELECT DISTINCT ON (s.chain_id, s.signer) ${COLUMNS} FROM signer_policy s
          WHERE m.mark <> $1 AND s.seq > k.seq ORDER BY s.chain_id DESC, s.signer DESC, s.version DESC)
        UNION ALL
        (SELECT n.* FROM signer g CROSS JOIN LATERAL (
           SELECT ${COLUMNS} FROM signer_policy s
            WHERE s.chain_id = g.chain_id AND s.signer = g.address ORDER BY s.version DESC LIMIT 1) n
          WHERE m.mark <> $1 AND k.seq IS NULL)) p ON true`,
};

/** One writer at a time, so that what is committed later has a higher seq. Nobody who only reads waits for it. */
const LOCK = { name: 'policy_lock', text: 'LOCK TABLE signer_policy IN SHARE ROW EXCLUSIVE MODE' };

const ADD = {
  name: 'policy_add',
  text: `
    INSERT INTO signer_policy (chain_id, signer, version, rules, changed_by)
    SELECT s.chain_id, s.address, $3::int + 1, $4::jsonb, $5 FROM signer s
     WHERE s.chain_id = $1 AND s.address = $2
       AND $3::int = (SELECT coalesce(max(p.version), 0) FROM signer_policy p WHERE p.chain_id = $1 AND p.signer = $2)
    RETURNING *`,
};

const VERSION_OF = {
  name: 'policy_version_of',
  text: `
    SELECT (SELECT coalesce(max(p.version), 0) FROM signer_policy p WHERE p.chain_id = $1 AND p.signer = $2) AS version
      FROM signer s WHERE s.chain_id = $1 AND s.address = $2`,
};

const VERSIONS = {
  name: 'policy_versions',
  text: withinPage(
    `SELECT * FROM signer_policy WHERE chain_id = $1 AND signer = $2 AND ($3::int IS NULL OR version < $3) ORDER BY version DESC LIMIT $4`,
    { order: 'version DESC', bytes: '300 + coalesce(octet_length(rules::text), 0)' },
  ),
};

interface PolicyRow {
  readonly chain_id: string;
  readonly signer: string;
  readonly version: number;
  readonly rules: WrittenRules | null;
  readonly changed_by: string;
  readonly changed_at: Date;
}

interface NewsRow extends Omit<PolicyRow, 'chain_id'> {
  readonly mark: string;
  readonly is_all: boolean;
  readonly chain_id: string | null;
}

@Injectable()
export class PgStoredPolicies extends StoredPolicies {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditLog,
  ) {
    super();
  }

  async news(mark: string, tx: Tx | null): Promise<PolicyNews | null> {
    const { rows } = await (tx === null ? this.database : PgTx.of(tx)).query<NewsRow>(POLICY_NEWS, [
      mark,
      /^\d+/.exec(mark)?.[0] ?? null,
    ]);
    const newest = rows.flatMap(({ chain_id, ...row }) => (chain_id === null ? [] : [toStored({ chain_id, ...row })]));
    const last = rows[0]?.mark ?? mark;
    return last === mark ? null : { mark: last, isAll: rows[0]?.is_all ?? true, newest };
  }

  change({ signer, policy, version, by }: PolicyChange): Promise<PolicyChanged> {
    const { chainId, address } = signer;
    const rules = policy && toRules(policy);
    return this.database.transaction(async (tx): Promise<PolicyChanged> => {
      await tx.query(LOCK, []);
      const values = [chainId, address, version, rules && JSON.stringify(rules), by.name];
      const [row] = (await tx.query<PolicyRow>(ADD, values)).rows;
      if (row === undefined) {
        const present = await readVersion(tx, signer);
        return present === null ? { kind: 'unknown_signer' } : { kind: 'other_version', version: present };
      }
      const action = policy === null ? 'withdrawPolicy' : 'setPolicy';
      const detail = { version: row.version, rules };
      await this.audit.record({ by, action, object: `signer:${signerKey(signer)}`, detail }, tx);
      return { kind: 'changed', stored: toStored(row) };
    });
  }

  versionOf(signer: SignerId): Promise<number | null> {
    return readVersion(this.database, signer);
  }

  async versions({ chainId, address }: SignerId, before: number | null, limit: number): Promise<Sized<StoredPolicy>[]> {
    const { rows } = await this.database.query<Sized<PolicyRow>>(VERSIONS, [chainId, address, before, limit]);
    return rows.map((row) => ({ ...toStored(row), bytes: row.bytes }));
  }
}

async function readVersion(runner: SqlRunner, { chainId, address }: SignerId): Promise<number | null> {
  const [row] = (await runner.query<{ version: number }>(VERSION_OF, [chainId, address])).rows;
  return row?.version ?? null;
}

function toStored({ chain_id, signer, version, rules, changed_by, changed_at }: PolicyRow): StoredPolicy {
  return {
    signer: parseSigner(chain_id, signer),
    version,
    policy: rules && toPolicy(rules),
    changedBy: changed_by,
    changedAt: changed_at,
  };
}
