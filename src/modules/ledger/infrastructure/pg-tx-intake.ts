import { Injectable } from '@nestjs/common';
import { parseHash } from '../../../kernel/hex.js';
import { NodeIdentity } from '../../../kernel/node-identity.js';
import { Database } from '../../../platform/database/database.js';
import type { SqlValue } from '../../../platform/database/pg-tx.js';
import { isPaused } from '../../signers/index.js';
import { contractOf } from '../application/views/contract-of.js';
import { type AcceptedTx, type Intake, type NewTx, type RequestKey, TxIntake } from '../domain/tx-intake.js';
import type { TxRequest } from '../domain/tx-request.js';
import type { TxState } from '../domain/tx-state-machine.js';
import { insertAuthorizations, unknownAuthorities, wantsAuthorizations } from './authorization-rows.js';
import { payloadColumns } from './managed-tx.rows.js';
import { insertPermits, wantsPermits } from './permit-rows.js';
import { insertBlobs } from './pg-blob.repository.js';

/**
 * Intake: rows and their first events in one statement and one commit. Rows are sorted by key, so that two batches with the same keys wait
 * for each other and do not deadlock. A key that exists is not changed; LOOK_UP reads it. A key that is already visible is not even
 * inserted, because ON CONFLICT would wait for the transaction that changes that row, and the whole batch with it. Subqueries hide the
 * arrays from the planner, which would make a new plan for each other length: for a single request that took a third of its time.
 * Statements over many rows want the new plan.
 */
const INSERT_PENDING = {
  name: 'tx_insert_pending',
  text: `
    WITH input AS (
      SELECT i.*, (SELECT ${isPaused('i.chain_id', 'i.signer', 'i.account_id')} FROM signer s WHERE s.chain_id = i.chain_id AND s.address = i.signer) AS paused
        FROM unnest((SELECT $1::uuid[]), (SELECT $2::bigint[]), (SELECT $3::text[]), (SELECT $4::text[]), (SELECT $5::text[]), (SELECT $6::text[]), (SELECT $7::numeric[]), (SELECT $8::text[]), (SELECT $9::jsonb[]), (SELECT $10::int[]), (SELECT $11::int[]), (SELECT $12::timestamptz[]), (SELECT $13::jsonb[]), (SELECT $15::boolean[]), (SELECT $16::uuid[]), (SELECT $17::text[]), (SELECT $18::text[]), (SELECT $19::int[]))
             AS i (tx_id, chain_id, signer, request_id, request_hash, to_address, value, data, options, priority, confirmations, expires_at, metadata, served, account_id, actor, kind, ttl)),
    inserted AS (
      INSERT INTO managed_tx (tx_id, chain_id, signer, request_id, request_hash, to_address, value, data, options, priority, confirmations, expires_at, metadata, account_id, kind, state)
      SELECT tx_id, chain_id, signer, request_id, request_hash, to_address, value, decode(substr(data, 3), 'hex'), options, priority, confirmations,
             coalesce(expires_at, clock_timestamp() + ttl * interval '1 s'), metadata, account_id, kind, 'PENDING'
        FROM input i
       WHERE paused IS NOT NULL AND served AND i.request_id IS DISTINCT FROM (
         SELECT t.request_id FROM managed_tx t
          WHERE t.chain_id = i.chain_id AND t.signer = i.signer AND t.account_id = i.account_id AND t.request_id >= i.request_id
          ORDER BY t.request_id LIMIT 1)
       ORDER BY chain_id, signer, account_id, request_id, tx_id
          ON CONFLICT (chain_id, signer, account_id, request_id) DO NOTHING
      RETURNING tx_id, chain_id),
    queued AS (
      INSERT INTO tx_event (chain_id, tx_id, reason, to_state, node_id, actor)
      SELECT n.chain_id, n.tx_id, 'queued', 'PENDING', $14, i.actor FROM inserted n JOIN input i ON i.tx_id = n.tx_id)
    SELECT i.tx_id, i.paused IS NOT NULL AS known, i.paused, n.tx_id IS NOT NULL AS created FROM input i LEFT JOIN inserted n ON n.tx_id = i.tx_id`,
};

/** After an insert it sees a row that another connection committed while the insert waited for it. */
const LOOK_UP = {
  name: 'tx_look_up',
  text: `
    SELECT k.position::int AS position, t.tx_id, t.state, t.nonce, t.tx_hash, t.request_hash
      FROM unnest($1::bigint[], $2::text[], $3::uuid[], $4::text[]) WITH ORDINALITY AS k (chain_id, signer, account_id, request_id, position)
     CROSS JOIN LATERAL (
       SELECT * FROM managed_tx m WHERE m.chain_id = k.chain_id AND m.signer = k.signer AND m.account_id = k.account_id AND m.request_id >= k.request_id
        ORDER BY m.request_id LIMIT 1) t
     WHERE t.request_id = k.request_id`,
};

interface InsertedRow {
  tx_id: string;
  known: boolean;
  /** Null for an unknown signer. */
  paused: boolean | null;
  created: boolean;
}

interface LookUpRow {
  position: number;
  tx_id: string;
  state: TxState;
  nonce: string | null;
  tx_hash: string | null;
  request_hash: string;
}

@Injectable()
export class PgTxIntake extends TxIntake {
  constructor(
    private readonly database: Database,
    private readonly node: NodeIdentity,
  ) {
    super();
  }

  async insertPending(txs: readonly NewTx[]): Promise<Intake[]> {
    const refused = await unknownAuthorities(this.database, txs);
    const rows = await this.insert(txs.filter(({ txId }) => !refused.has(txId)));
    const byId = new Map(rows.map((row) => [row.tx_id, row]));
    const repeated = txs.filter(({ txId }) => byId.get(txId)?.known === true && byId.get(txId)?.created === false);
    const existing = await this.lookUp(repeated);
    return txs.flatMap(({ txId, isServed }): Intake[] => {
      const row = byId.get(txId);
      const authority = refused.get(txId);
      if (authority !== undefined) return [{ kind: 'unknown_authority', authority }];
      if (row?.known !== true) return [{ kind: 'unknown_signer' }];
      const paused = row.paused === true;
      if (row.created) return [{ kind: 'created', txId, isPaused: paused }];
      const found = existing.get(txId);
      if (!found && !isServed) return [{ kind: 'unserved_signer' }];
      return found ? [{ kind: 'exists', tx: found, isPaused: paused }] : [];
    });
  }

  async areStored(keys: readonly RequestKey[]): Promise<boolean[]> {
    const positions = new Set((await this.rowsOf(keys)).map(({ position }) => position));
    return keys.map((_key, index) => positions.has(index + 1));
  }

  /** Only what has rows of other tables needs a transaction. */
  private async insert(txs: readonly NewTx[]): Promise<InsertedRow[]> {
    const values = [
      ...requestColumns(txs),
      this.node.id,
      txs.map(({ isServed }) => isServed),
      txs.map(({ request }) => request.sender.account),
      txs.map(({ request }) => request.sender.name),
      txs.map(({ request }) => (request.hold ? 'hold' : 'payload')),
      txs.map(({ request }) => request.hold?.ttl ?? null),
    ];
    const isAlone = ({ request }: NewTx): boolean =>
      request.sidecar === undefined && !wantsAuthorizations(request) && !wantsPermits(request);
    if (txs.every(isAlone)) return (await this.database.query<InsertedRow>(INSERT_PENDING, values)).rows;
    return this.database.transaction(async (tx) => {
      const { rows } = await tx.query<InsertedRow>(INSERT_PENDING, values);
      const created = new Set(rows.filter((row) => row.created).map((row) => row.tx_id));
      const stored = txs.filter(({ txId }) => created.has(txId));
      await insertBlobs(tx, stored);
      await insertAuthorizations(tx, stored);
      await insertPermits(tx, stored);
      return rows;
    });
  }

  private async lookUp(repeated: readonly NewTx[]): Promise<ReadonlyMap<string, AcceptedTx>> {
    if (repeated.length === 0) return new Map();
    const rows = await this.rowsOf(repeated.map(({ request }) => request));
    return new Map(
      rows.flatMap((row): [string, AcceptedTx][] => {
        const asked = repeated[row.position - 1];
        return asked ? [[asked.txId, toAccepted(row, asked.request)]] : [];
      }),
    );
  }

  private async rowsOf(keys: readonly RequestKey[]): Promise<LookUpRow[]> {
    const { rows } = await this.database.query<LookUpRow>(LOOK_UP, [
      keys.map(({ signer }) => signer.chainId),
      keys.map(({ signer }) => signer.address),
      keys.map(({ sender }) => sender.account),
      keys.map(({ requestId }) => requestId),
    ]);
    return rows;
  }
}

function toAccepted(row: LookUpRow, { signer, payload: { to }, hold }: TxRequest): AcceptedTx {
  const { state } = row;
  const nonce = row.nonce === null ? null : BigInt(row.nonce);
  return {
    txId: row.tx_id,
    state,
    nonce,
    contractAddress: contractOf({ signer, to, nonce, state, isHold: hold !== undefined }),
    txHash: row.tx_hash === null ? null : parseHash(row.tx_hash),
    requestHash: parseHash(row.request_hash),
  };
}

function requestColumns(txs: readonly NewTx[]): SqlValue[] {
  return [
    ...payloadColumns(txs),
    txs.map(({ request }) => request.confirmations),
    txs.map(({ request }) => request.expiresAt),
    txs.map(({ request }) => (request.metadata === null ? null : JSON.stringify(request.metadata))),
  ];
}
