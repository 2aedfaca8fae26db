import { Injectable } from '@nestjs/common';
import { Transaction } from 'ethers';
import { parseHex } from '../../../kernel/hex.js';
import { Database } from '../../../platform/database/database.js';
import { slotColumns } from '../../signers/index.js';
import type { ManagedTx } from '../domain/managed-tx.js';
import { ManagedTxRepository, type RequestedTx } from '../domain/managed-tx.repository.js';
import { PROGRESS_COLUMNS, readTxs, REQUEST_COLUMNS, type RequestRow, toRequested } from './managed-tx.rows.js';

const BY_IDS = {
  name: 'tx_by_ids',
  text: `SELECT ${PROGRESS_COLUMNS} FROM managed_tx t WHERE t.tx_id = ANY($1::uuid[])`,
};

/**
 * Its commits may be lost, and with them the permits in its call, or the last time that they were made anew: what was signed with the nonce of the tx says
 * which ones it has. Every other attempt at this nonce has the same.
 */
const SENT = `
           CASE WHEN t.options ? 'permits' AND t.nonce IS NOT NULL THEN (
             SELECT a.raw FROM tx_attempt a
              WHERE a.signer = t.signer AND a.nonce = t.nonce AND a.chain_id = t.chain_id AND a.tx_id = t.tx_id AND a.kind = 'payload'
              ORDER BY a.created_at DESC, a.tx_hash DESC LIMIT 1) END AS sent`;

export const REQUESTED = {
  name: 'tx_requested',
  text: `SELECT ${PROGRESS_COLUMNS}, ${REQUEST_COLUMNS}, ${SENT} FROM managed_tx t WHERE t.tx_id = ANY($1::uuid[])`,
};

/**
 * Txs of a race, found by the attempts of the slot: finished rows have no index by nonce. A tx that once had the slot and moved to another
 * nonce is no rival, nor is one that never took part in a race.
 */
const RIVALS = {
  name: 'tx_rivals',
  text: `
    SELECT ${PROGRESS_COLUMNS} FROM managed_tx t
      JOIN (SELECT DISTINCT a.tx_id, a.nonce FROM tx_attempt a
              JOIN unnest($1::bigint[], $2::text[], $3::bigint[]) AS w (chain_id, signer, nonce)
                ON a.chain_id = w.chain_id AND a.signer = w.signer AND a.nonce = w.nonce) sent ON sent.tx_id = t.tx_id AND sent.nonce = t.nonce
     WHERE (t.replaces IS NOT NULL OR t.replaced_by IS NOT NULL OR t.withdrawn_replacement IS NOT NULL) AND t.tx_id <> ALL($4::uuid[])
     ORDER BY t.tx_id`,
};

@Injectable()
export class PgManagedTxRepository extends ManagedTxRepository {
  constructor(private readonly database: Database) {
    super();
  }

  byIds(txIds: readonly string[]): Promise<ManagedTx[]> {
    return readTxs(this.database, BY_IDS, [txIds]);
  }

  async requested(txIds: readonly string[]): Promise<RequestedTx[]> {
    if (txIds.length === 0) return [];
    const { rows } = await this.database.query<RequestRow & { sent: Buffer | null }>(REQUESTED, [txIds]);
    return rows.map((row) => (row.sent === null ? toRequested(row) : asSent(toRequested(row), row.sent)));
  }

  async rivals(txs: readonly ManagedTx[]): Promise<ManagedTx[]> {
    if (txs.length === 0) return [];
    return readTxs(this.database, RIVALS, [...slotColumns(txs), txs.map(({ id }) => id)]);
  }
}

function asSent({ tx, request }: RequestedTx, raw: Buffer): RequestedTx {
  const data = parseHex(Transaction.from(`0x${raw.toString('hex')}`).data);
  return { tx, request: { ...request, payload: { ...request.payload, data } } };
}
