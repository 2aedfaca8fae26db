DROP INDEX tx_attempt_slot;
CREATE INDEX tx_attempt_slot ON tx_attempt (chain_id, signer, nonce);
ALTER TABLE tx_attempt DROP CONSTRAINT tx_attempt_pkey, ADD PRIMARY KEY (chain_id, tx_hash);
