import { Injectable } from '@nestjs/common';
import { distinctSigners, parseSigner, type SignerId } from '../../../kernel/signer-id.js';
import { Database } from '../../../platform/database/database.js';
import { HeartbeatDatabase } from '../../../platform/database/pools.js';
import type { Lease } from '../domain/lease.js';
import { LeaseStore, type LeaseTerms } from '../domain/lease-store.js';

interface LeaseRow {
  chain_id: string;
  signer: string;
  owner_node: string;
  fencing_token: string;
}

/**
 * When another node may take the lease: after the allowance for clocks that differ. The previous owner needs no allowance for its own
 * clock.
 */
const TAKEABLE_AT = `l.expires_at + CASE WHEN l.owner_node = $3 THEN interval '0' ELSE $5::float8 * interval '1 ms' END`;
const UNTIL = `clock_timestamp() + $4::float8 * interval '1 ms'`;

/**
 * A plain read first leaves out the leases that other nodes hold, so that a vain request does not block the writers of the owner. The WHERE
 * of the update decides, because PostgreSQL checks it again under the lock. A first lease is inserted with ON CONFLICT DO NOTHING, which
 * covers every unique index. DO UPDATE covers only the index that it names: if two nodes inserted at once, one would fail at the index of
 * the fence. Expired leases are locked in the order of their keys before the first of them is changed. Only the new token, a change of a
 * key column, waits for the writers in flight. This statement returns a live lease of this node and does not renew it. Every statement here
 * waits for rows in the order of the keys that it was given; the collation of the column may have another one. A statement that renewed some
 * rows and then waited for others could deadlock with another one like it.
 */
const ACQUIRE = {
  name: 'lease_acquire',
  text: `
    WITH wanted AS (SELECT * FROM unnest($1::bigint[], $2::text[]) AS w (chain_id, signer)),
    own AS (
      SELECT l.chain_id, l.signer, l.owner_node, l.fencing_token
        FROM signer_lease l JOIN wanted w ON l.chain_id = w.chain_id AND l.signer = w.signer
       WHERE l.owner_node = $3 AND l.expires_at > clock_timestamp()),
    free AS (
      SELECT w.chain_id, w.signer FROM wanted w
       WHERE NOT EXISTS (SELECT FROM own o WHERE o.chain_id = w.chain_id AND o.signer = w.signer)
         AND NOT EXISTS (
         SELECT FROM signer_lease l
          WHERE l.chain_id = w.chain_id AND l.signer = w.signer AND ${TAKEABLE_AT} > clock_timestamp())
       ORDER BY 1, 2),
    first AS (
      INSERT INTO signer_lease AS l (chain_id, signer, owner_node, fencing_token, acquired_at, expires_at, updated_at)
      SELECT chain_id, signer, $3, 1, clock_timestamp(), ${UNTIL}, clock_timestamp() FROM free
          ON CONFLICT DO NOTHING
      RETURNING l.chain_id, l.signer, l.owner_node, l.fencing_token),
    ended AS (
      SELECT f.chain_id, f.signer FROM signer_lease l JOIN free f ON l.chain_id = f.chain_id AND l.signer = f.signer
       ORDER BY 1, 2 FOR NO KEY UPDATE OF l),
    next AS (
      UPDATE signer_lease l
         SET owner_node = $3, fencing_token = l.fencing_token + 1, acquired_at = clock_timestamp(),
             expires_at = ${UNTIL}, updated_at = clock_timestamp(), idle = false
        FROM ended e
       WHERE l.chain_id = e.chain_id AND l.signer = e.signer AND ${TAKEABLE_AT} <= clock_timestamp()
      RETURNING l.chain_id, l.signer, l.owner_node, l.fencing_token)
    SELECT *, true AS taken FROM first UNION ALL SELECT *, true FROM next UNION ALL SELECT *, false FROM own`,
};

/** The rows of a statement, sorted, because PostgreSQL locks them in this order. */
const HELD = `(SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[]) ORDER BY 1, 2) AS h (chain_id, signer, fencing_token)`;

/** Changes no key column, so its lock does not conflict with the FOR KEY SHARE of the writers. */
const RENEW = {
  name: 'lease_renew',
  text: `
    UPDATE signer_lease l SET expires_at = clock_timestamp() + $5::float8 * interval '1 ms', updated_at = clock_timestamp()
      FROM ${HELD}
     WHERE l.chain_id = h.chain_id AND l.signer = h.signer AND l.fencing_token = h.fencing_token
       AND l.owner_node = $4 AND l.expires_at > clock_timestamp()
    RETURNING l.chain_id, l.signer, l.owner_node, l.fencing_token`,
};

const RELEASE = {
  name: 'lease_release',
  text: `
    UPDATE signer_lease l SET expires_at = '-infinity', updated_at = clock_timestamp(), idle = $5
      FROM ${HELD}
     WHERE l.chain_id = h.chain_id AND l.signer = h.signer AND l.fencing_token = h.fencing_token AND l.owner_node = $4`,
};

/** Every fenced transaction has its lease rows FOR KEY SHARE until it is decided, so only the rows of the others can be locked. */
const WITHOUT_OPEN_WRITES = {
  name: 'lease_without_open_writes',
  text: `
    SELECT l.chain_id, l.signer, l.owner_node, l.fencing_token FROM signer_lease l JOIN ${HELD}
        ON l.chain_id = h.chain_id AND l.signer = h.signer AND l.fencing_token = h.fencing_token
       FOR UPDATE OF l SKIP LOCKED`,
};

@Injectable()
export class PgLeaseStore extends LeaseStore {
  /** A takeover waits for writers in flight. Renewal and release wait for no writer, so they have their own connections. */
  constructor(
    private readonly database: Database,
    private readonly heartbeats: HeartbeatDatabase,
  ) {
    super();
  }

  async acquire(node: string, signers: readonly SignerId[], terms: LeaseTerms): Promise<Lease[]> {
    // PostgreSQL refuses a statement that names a row twice in ON CONFLICT DO UPDATE.
    const wanted = distinctSigners(signers);
    const { rows } = await this.database.query<LeaseRow & { taken: boolean }>(ACQUIRE, [
      wanted.map((signer) => signer.chainId),
      wanted.map((signer) => signer.address),
      node,
      terms.durationMs,
      terms.clockSkewAllowanceMs,
    ]);
    const [taken, own] = [rows.filter((row) => row.taken), rows.filter((row) => !row.taken)];
    const renewed = own.length === 0 ? [] : await this.renew(node, own.map(toLease), terms);
    return [...taken.map(toLease), ...renewed];
  }

  async renew(node: string, leases: readonly Lease[], terms: LeaseTerms): Promise<Lease[]> {
    const { rows } = await this.heartbeats.query<LeaseRow>(RENEW, [...columns(leases), node, terms.durationMs]);
    return rows.map(toLease);
  }

  async release(node: string, leases: readonly Lease[], idle = false): Promise<void> {
    await this.heartbeats.query(RELEASE, [...columns(leases), node, idle]);
  }

  async withoutOpenWrites(leases: readonly Lease[]): Promise<Lease[]> {
    const { rows } = await this.database.query<LeaseRow>(WITHOUT_OPEN_WRITES, columns(leases));
    return rows.map(toLease);
  }
}

function columns(leases: readonly Lease[]): [number[], string[], bigint[]] {
  return [
    leases.map((lease) => lease.signer.chainId),
    leases.map((lease) => lease.signer.address),
    leases.map((lease) => lease.token),
  ];
}

function toLease(row: LeaseRow): Lease {
  return {
    signer: parseSigner(row.chain_id, row.signer),
    owner: row.owner_node,
    token: BigInt(row.fencing_token),
  };
}
