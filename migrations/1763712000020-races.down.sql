-- outside a transaction: indexes of large tables are built while others write
-- Fails while replacements compete for slots: the version before has one live tx for each slot.
DROP INDEX CONCURRENTLY IF EXISTS managed_tx_racing;
CREATE UNIQUE INDEX CONCURRENTLY managed_tx_racing ON managed_tx (chain_id, signer, nonce) WHERE state IN ('ALLOCATED', 'IN_MEMPOOL', 'MINED');
DROP INDEX CONCURRENTLY IF EXISTS managed_tx_live;
ALTER INDEX managed_tx_racing RENAME TO managed_tx_live;
