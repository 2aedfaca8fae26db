-- outside a transaction: indexes of large tables are built while others write
DROP INDEX CONCURRENTLY IF EXISTS managed_tx_ended_by_signer;
DROP INDEX CONCURRENTLY IF EXISTS managed_tx_by_state;
DROP INDEX CONCURRENTLY IF EXISTS managed_tx_pending;
CREATE INDEX CONCURRENTLY managed_tx_pending ON managed_tx (chain_id, signer, priority DESC, tx_id) WHERE state = 'PENDING';
DROP INDEX CONCURRENTLY IF EXISTS managed_tx_waiting;
