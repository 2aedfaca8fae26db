DROP TABLE tx_command;
ALTER TABLE tx_attempt DROP COLUMN priced_at_block;
ALTER TABLE tx_attempt DROP COLUMN max_fee_per_blob_gas;
ALTER TABLE tx_attempt DROP COLUMN tx_type;
ALTER TABLE managed_tx DROP COLUMN replaced_by;
ALTER TABLE managed_tx DROP COLUMN replaces;
