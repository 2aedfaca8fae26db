import { Injectable } from '@nestjs/common';
import type { Hash } from '../../../kernel/hex.js';
import type { ChainId, SignerId } from '../../../kernel/signer-id.js';
import { Database } from '../../../platform/database/database.js';
import type { FinalHeights } from '../../chain/index.js';
import type { SlotRef } from '../../signers/index.js';
import type { ManagedTx } from '../domain/managed-tx.js';
import { MinedTxs } from '../domain/mined-txs.js';
import { readTxs, FINAL_STATES, PROGRESS_COLUMNS } from './managed-tx.rows.js';

/** Above every nonce, which is a bigint. */
const MAX_BIGINT = '9223372036854775807';

/**
 * Consumed slots `s` of every signer `g` whose nonce may have been used in block `$2` or above: those above the highest nonce whose tx was
 * mined below that block.
 */
export const CONSUMED_FROM_BLOCK = `
      FROM signer g
     CROSS JOIN LATERAL (
       SELECT coalesce((
         SELECT s.nonce FROM signer_nonce_allocation s JOIN managed_tx m ON m.tx_id = s.tx_id
          WHERE s.chain_id = g.chain_id AND s.signer = g.address AND s.status = 'CONSUMED' AND m.block_number < $2
          ORDER BY s.nonce DESC LIMIT 1), -1) AS nonce) b
      JOIN signer_nonce_allocation s
        ON s.chain_id = g.chain_id AND s.signer = g.address AND s.nonce > b.nonce AND s.status = 'CONSUMED'`;

/** In the order of managed_tx_mined, which no other index on the state has. */
export const ANY_MINED = {
  name: 'tx_any_mined',
  text: `SELECT FROM managed_tx WHERE chain_id = $1 AND state = 'MINED' ORDER BY confirmations, block_number LIMIT 1`,
};

/**
 * Reads one range of managed_tx_mined for each number of confirmations in use, including none (the rule of the chain). It finds these
 * numbers with one index probe each, and reads no rows that are not deep enough. A column with the height at which a tx becomes final would
 * need only one range. But it would not work for a block tag, which moves by itself, and it would keep a rule after the config has changed.
 * A payload gets another nonce by the rule of the chain alone (docs/decisions/0033-only-the-chain-ends-what-was-sent.md).
 */
export const MINED_UP_TO = {
  name: 'tx_mined_up_to',
  text: `
    WITH RECURSIVE own AS (
      (SELECT confirmations FROM managed_tx WHERE chain_id = $1 AND state = 'MINED' AND confirmations >= 0 ORDER BY confirmations, block_number LIMIT 1)
      UNION ALL
      SELECT (SELECT t.confirmations FROM managed_tx t WHERE t.chain_id = $1 AND t.state = 'MINED' AND t.confirmations > o.confirmations ORDER BY t.confirmations, t.block_number LIMIT 1)
        FROM own o WHERE o.confirmations IS NOT NULL)
    (SELECT ${PROGRESS_COLUMNS} FROM managed_tx t
      WHERE t.chain_id = $1 AND t.signer = ANY($2::text[]) AND t.state = 'MINED' AND t.confirmations IS NULL AND t.block_number <= $3
      ORDER BY t.confirmations, t.block_number LIMIT $6::bigint + $7::bigint)
    UNION ALL
    (SELECT ${PROGRESS_COLUMNS} FROM own o
      CROSS JOIN LATERAL (
        SELECT * FROM managed_tx m
         WHERE m.chain_id = $1 AND m.signer = ANY($2::text[]) AND m.state = 'MINED' AND m.confirmations = o.confirmations
           AND m.block_number <= least($4::bigint - o.confirmations, $5::bigint)
           AND (m.block_number <= $3 OR NOT coalesce(m.closing @> '{"as": "PENDING", "won": true}', false))
         ORDER BY m.confirmations, m.block_number LIMIT $6::bigint + $7::bigint) t)
     LIMIT $6 OFFSET $7`,
};

const MINED_IN = {
  name: 'tx_mined_in',
  text: `
    SELECT ${PROGRESS_COLUMNS} FROM managed_tx t
     WHERE t.chain_id = $1 AND t.signer = ANY($2::text[]) AND t.state = 'MINED' AND t.block_hash = ANY($3::text[])`,
};

/**
 * Finished rows have no index by block: with a million of them it would cost too much. The block numbers of a signer grow with its nonces,
 * so this reads from its newest slot down to the first one that was mined below the lowest block.
 */
const FINAL_IN = {
  name: 'tx_final_in',
  text: `
    SELECT ${PROGRESS_COLUMNS} ${CONSUMED_FROM_BLOCK}
      JOIN managed_tx t ON t.tx_id = s.tx_id
     WHERE g.chain_id = $1 AND t.block_hash = ANY($3::text[])
       AND t.state IN ${FINAL_STATES}`,
};

/** Without a list of signers: of all signers. Reads each signer from its newest slot down. */
export const NEWEST_FINAL = {
  name: 'tx_newest_final',
  text: `
    SELECT ${PROGRESS_COLUMNS}
      FROM signer g
      LEFT JOIN unnest($2::text[], $3::bigint[]) AS w (address, nonce) ON w.address = g.address
     CROSS JOIN LATERAL (
       SELECT m.* FROM signer_nonce_allocation s JOIN managed_tx m ON m.tx_id = s.tx_id
        WHERE s.chain_id = g.chain_id AND s.signer = g.address AND s.status = 'CONSUMED' AND s.nonce < coalesce(w.nonce, ${MAX_BIGINT})
          AND m.block_hash IS NOT NULL AND m.state IN ${FINAL_STATES}
        ORDER BY s.nonce DESC LIMIT $4) t
     WHERE g.chain_id = $1 AND ($2::text[] IS NULL OR w.address IS NOT NULL)`,
};

@Injectable()
export class PgMinedTxs extends MinedTxs {
  constructor(private readonly database: Database) {
    super();
  }

  async anyMined(chainId: ChainId): Promise<boolean> {
    const { rowCount } = await this.database.query(ANY_MINED, [chainId]);
    return rowCount === 1;
  }

  minedUpTo(
    chainId: ChainId,
    signers: readonly SignerId[],
    { byRule, head, ceiling }: FinalHeights,
    { skip, limit }: { readonly skip: number; readonly limit: number },
  ): Promise<ManagedTx[]> {
    const addresses = signers.map(({ address }) => address);
    return readTxs(this.database, MINED_UP_TO, [chainId, addresses, byRule, head, ceiling, limit, skip]);
  }

  minedIn(chainId: ChainId, signers: readonly SignerId[], blockHashes: readonly Hash[]): Promise<ManagedTx[]> {
    return readTxs(this.database, MINED_IN, [chainId, signers.map(({ address }) => address), blockHashes]);
  }

  finalIn(chainId: ChainId, lowest: number, blockHashes: readonly Hash[]): Promise<ManagedTx[]> {
    return readTxs(this.database, FINAL_IN, [chainId, lowest, blockHashes]);
  }

  newestFinal(chainId: ChainId, below: readonly SlotRef[] | null, perSigner: number): Promise<ManagedTx[]> {
    const signers = below?.map(({ signer }) => signer.address) ?? null;
    const nonces = below?.map(({ nonce }) => nonce) ?? null;
    return readTxs(this.database, NEWEST_FINAL, [chainId, signers, nonces, perSigner]);
  }
}
