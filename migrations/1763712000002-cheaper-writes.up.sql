-- locks: managed_tx, signer_nonce_allocation, tx_attempt, tx_event, chain_block
-- The same strings as before. A counted repetition ({64}) costs PostgreSQL's regular expressions 12 microseconds, the length and a
-- star one (measured on PostgreSQL 18); a transaction's life checks some twenty of these.
ALTER DOMAIN evm_address DROP CONSTRAINT evm_address_check;
ALTER DOMAIN evm_address ADD CONSTRAINT evm_address_check CHECK (length(VALUE) = 42 AND VALUE ~ '^0x[0-9a-f]*$');
ALTER DOMAIN evm_hash DROP CONSTRAINT evm_hash_check;
ALTER DOMAIN evm_hash ADD CONSTRAINT evm_hash_check CHECK (length(VALUE) = 66 AND VALUE ~ '^0x[0-9a-f]*$');

-- Rows of these tables change columns that no index has. With room in their page PostgreSQL writes the new version there and
-- leaves every index alone (HOT); a full page costs an entry in each index for each change.
ALTER TABLE tx_attempt SET (fillfactor = 70);
ALTER TABLE signer_nonce_cursor SET (fillfactor = 50);
ALTER TABLE signer_lease SET (fillfactor = 50);

-- Slots that are being filled belong to nobody's tx. There are few, and every look for work asks for them: without an index it
-- read every slot that was ever used.
CREATE INDEX signer_nonce_allocation_fills ON signer_nonce_allocation (chain_id, signer, nonce) WHERE status = 'HELD' AND tx_id IS NULL;
