import { Injectable } from '@nestjs/common';
import { type Hash, parseHash } from '../../../kernel/hex.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { chainLockKey } from '../../../platform/database/advisory-locks.js';
import { Database } from '../../../platform/database/database.js';
import type { BlockHeader, BlockRef } from '../domain/block.js';
import { BlockStore, type StoredBlock } from '../domain/block-store.js';

/** Newest first. {@link PgBlockStore.recent} cuts the list at the first gap in the parent hashes. */
const RECENT = {
  name: 'block_recent',
  text: `SELECT number, hash, parent_hash FROM chain_block WHERE chain_id = $1 AND canonical ORDER BY number DESC LIMIT $2`,
};

const ORPHAN = {
  name: 'block_orphan',
  text: `UPDATE chain_block SET canonical = false WHERE chain_id = $1 AND hash = ANY($2::text[]) AND canonical`,
};

const ORPHANED = {
  name: 'block_orphaned',
  text: `SELECT number, hash FROM chain_block WHERE chain_id = $1 AND NOT canonical
            AND number > (SELECT max(number) FROM chain_block WHERE chain_id = $1 AND canonical IS NOT NULL) - $2::bigint`,
};

/** Another node may have stored another block at a height; this node read the chain later, so its block becomes the canonical one. */
const DISPLACE = {
  name: 'block_displace',
  text: `
    UPDATE chain_block b SET canonical = false
      FROM unnest($2::bigint[], $3::text[]) AS n (number, hash)
     WHERE b.chain_id = $1 AND b.number = n.number AND b.hash <> n.hash AND b.canonical`,
};

const STORE = {
  name: 'block_store',
  text: `
    INSERT INTO chain_block AS b (chain_id, number, hash, parent_hash, canonical)
    SELECT $1, n.number, n.hash, n.parent_hash, true
      FROM unnest($2::bigint[], $3::text[], $4::text[]) AS n (number, hash, parent_hash) ORDER BY n.number
        ON CONFLICT (chain_id, number, hash) DO UPDATE SET canonical = true WHERE b.canonical IS NOT TRUE`,
};

/**
 * One statement, because every block waits for it. The rows are sorted before the first one is written, so the lock ({@link ONE_AT_A_TIME}) is
 * had by then. The last part sees the rows as they were before.
 */
const BEGIN = {
  name: 'block_begin',
  text: `
    WITH turn AS MATERIALIZED (SELECT pg_advisory_xact_lock(7250316, $2)),
    begun AS (
      INSERT INTO chain_block AS b (chain_id, number, hash, parent_hash, canonical)
      SELECT $1, n.number, n.hash, n.parent_hash, NULL
        FROM turn, unnest($3::bigint[], $4::text[], $5::text[]) AS n (number, hash, parent_hash) ORDER BY n.number
          ON CONFLICT (chain_id, number, hash) DO UPDATE SET canonical = NULL WHERE NOT b.canonical)
    SELECT number, hash FROM chain_block WHERE chain_id = $1 AND canonical IS NULL AND number > $6::bigint`,
};

const FORGET = { name: 'block_forget', text: `DELETE FROM chain_block WHERE chain_id = $1 AND number < $2` };

/** Nodes that follow the same chain write the same rows. The advisory lock makes them write one after the other, without deadlocks. */
const ONE_AT_A_TIME = { name: 'block_lock', text: `SELECT pg_advisory_xact_lock(7250316, $1)` };

interface BlockRow {
  number: string;
  hash: string;
  parent_hash: string;
}

type RefRow = Pick<BlockRow, 'number' | 'hash'>;

@Injectable()
export class PgBlockStore extends BlockStore {
  constructor(private readonly database: Database) {
    super();
  }

  async recent(chainId: ChainId, limit: number): Promise<StoredBlock[]> {
    const { rows } = await this.database.query<BlockRow>(RECENT, [chainId, limit]);
    const blocks = rows.map((row) => ({
      number: Number(row.number),
      hash: parseHash(row.hash),
      parentHash: parseHash(row.parent_hash),
    }));
    const broken = blocks.findIndex((block, index) => index > 0 && blocks[index - 1]?.parentHash !== block.hash);
    return (broken === -1 ? blocks : blocks.slice(0, broken)).reverse();
  }

  async begin(chainId: ChainId, blocks: readonly BlockHeader[], above: number): Promise<BlockRef[]> {
    const { rows } = await this.database.query<RefRow>(BEGIN, [
      chainId,
      chainLockKey(chainId),
      blocks.map(({ number }) => number),
      blocks.map(({ hash }) => hash),
      blocks.map(({ parentHash }) => parentHash),
      above,
    ]);
    return rows.map(toRef);
  }

  async advance(chainId: ChainId, orphaned: readonly Hash[], canonical: readonly BlockHeader[]): Promise<void> {
    const numbers = canonical.map((block) => block.number);
    const hashes = canonical.map((block) => block.hash);
    await this.database.transaction(async (tx) => {
      await tx.query(ONE_AT_A_TIME, [chainLockKey(chainId)]);
      if (orphaned.length > 0) await tx.query(ORPHAN, [chainId, orphaned]);
      if (canonical.length === 0) return;
      await tx.query(DISPLACE, [chainId, numbers, hashes]);
      const parents = canonical.map((block) => block.parentHash);
      await tx.query(STORE, [chainId, numbers, hashes, parents]);
    });
  }

  async orphaned(chainId: ChainId, depth: number): Promise<BlockRef[]> {
    const { rows } = await this.database.query<RefRow>(ORPHANED, [chainId, depth]);
    return rows.map(toRef);
  }

  async forgetBelow(chainId: ChainId, number: number): Promise<void> {
    await this.database.query(FORGET, [chainId, number]);
  }
}

function toRef({ number, hash }: RefRow): BlockRef {
  return { number: Number(number), hash: parseHash(hash) };
}
