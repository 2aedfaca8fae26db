DROP INDEX managed_tx_parked;
