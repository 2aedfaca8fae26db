-- outside a transaction: the index of a large table is built while others write
-- Lists of fills (`?kind=fill`). They are rare among all that a signer ever sent.
DROP INDEX CONCURRENTLY IF EXISTS managed_tx_fills;
CREATE INDEX CONCURRENTLY managed_tx_fills ON managed_tx (chain_id, signer, tx_id) WHERE kind = 'fill';
