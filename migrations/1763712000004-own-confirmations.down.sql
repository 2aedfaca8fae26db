DROP INDEX managed_tx_mined;
ALTER TABLE managed_tx DROP COLUMN confirmations;
CREATE INDEX managed_tx_mined ON managed_tx (chain_id, block_number) WHERE state = 'MINED';
