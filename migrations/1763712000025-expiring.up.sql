-- outside a transaction: indexes of large tables are built while others write
-- Txs in flight that have an end; no other tx has an entry.
DROP INDEX CONCURRENTLY IF EXISTS managed_tx_expiring;
CREATE INDEX CONCURRENTLY managed_tx_expiring ON managed_tx (chain_id, expires_at) WHERE state IN ('ALLOCATED', 'IN_MEMPOOL') AND closing IS NULL AND replaced_by IS NULL AND expires_at IS NOT NULL;
