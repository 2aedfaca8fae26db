-- outside a transaction: indexes of large tables are built while others write
DROP INDEX CONCURRENTLY IF EXISTS managed_tx_expiring;
