-- outside a transaction: indexes of large tables are built while others write
-- What waits, by when it is ready: always, while it was not tried, else when its timer runs out. What is not due lies behind all that is.
DROP INDEX CONCURRENTLY IF EXISTS managed_tx_waiting;
CREATE INDEX CONCURRENTLY managed_tx_waiting ON managed_tx (chain_id, signer, (coalesce(next_resubmit_at, '-infinity'::timestamptz)), (-priority), tx_id) WHERE state = 'PENDING';
DROP INDEX CONCURRENTLY IF EXISTS managed_tx_pending;
-- Lists by state. What is in flight is bounded and read from managed_tx_live; each of its states would cost every tx an entry here.
DROP INDEX CONCURRENTLY IF EXISTS managed_tx_by_state;
CREATE INDEX CONCURRENTLY managed_tx_by_state ON managed_tx (chain_id, state, tx_id) WHERE state NOT IN ('ALLOCATED', 'IN_MEMPOOL', 'MINED');
-- One signer's, of states that are rare among all that it ever sent.
DROP INDEX CONCURRENTLY IF EXISTS managed_tx_ended_by_signer;
CREATE INDEX CONCURRENTLY managed_tx_ended_by_signer ON managed_tx (chain_id, signer, state, tx_id) WHERE state IN ('FAILED', 'CANCELLED', 'REPLACED', 'DROPPED');
