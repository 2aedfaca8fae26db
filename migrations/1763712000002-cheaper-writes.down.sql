DROP INDEX signer_nonce_allocation_fills;

ALTER TABLE tx_attempt RESET (fillfactor);
ALTER TABLE signer_nonce_cursor RESET (fillfactor);
ALTER TABLE signer_lease RESET (fillfactor);

ALTER DOMAIN evm_address DROP CONSTRAINT evm_address_check;
ALTER DOMAIN evm_address ADD CONSTRAINT evm_address_check CHECK (VALUE ~ '^0x[0-9a-f]{40}$');
ALTER DOMAIN evm_hash DROP CONSTRAINT evm_hash_check;
ALTER DOMAIN evm_hash ADD CONSTRAINT evm_hash_check CHECK (VALUE ~ '^0x[0-9a-f]{64}$');
