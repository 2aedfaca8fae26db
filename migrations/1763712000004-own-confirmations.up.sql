-- locks: managed_tx
-- What the request itself asks for; null, as in every older row, where the rule of the chain counts.
ALTER TABLE managed_tx ADD COLUMN confirmations integer CHECK (confirmations >= 0);
-- For each number of confirmations one range of blocks, so that what is not deep enough is never looked at. A tx enters it when it is
-- mined and leaves it when it is settled, as before.
DROP INDEX managed_tx_mined;
CREATE INDEX managed_tx_mined ON managed_tx (chain_id, confirmations, block_number) WHERE state = 'MINED';
