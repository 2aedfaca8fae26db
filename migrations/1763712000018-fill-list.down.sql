DROP INDEX managed_tx_fills;
