-- outside a transaction: the index of a large table is built while others write
-- Waiting txs that the balance did not cover. Nothing behind them in the queue gets a nonce before they do.
DROP INDEX CONCURRENTLY IF EXISTS managed_tx_parked;
CREATE INDEX CONCURRENTLY managed_tx_parked ON managed_tx (chain_id, signer, (-priority), tx_id) WHERE state = 'PENDING' AND sub_state = 'INSUFFICIENT_FUNDS';
