-- outside a transaction: indexes of large tables are built while others write
-- One live tx for each slot, and one live replacement for each of these.
DROP INDEX CONCURRENTLY IF EXISTS managed_tx_racing;
CREATE UNIQUE INDEX CONCURRENTLY managed_tx_racing ON managed_tx (chain_id, signer, nonce, (coalesce(replaces, '00000000-0000-0000-0000-000000000000'::uuid))) WHERE state IN ('ALLOCATED', 'IN_MEMPOOL', 'MINED');
DROP INDEX CONCURRENTLY IF EXISTS managed_tx_live;
ALTER INDEX managed_tx_racing RENAME TO managed_tx_live;
