-- locks: tx_attempt
-- Two indexes of one table that begin with the same column look alike to a planner that knows the table as empty, and the plan it
-- makes then is kept. Each begins with what only it can find now.
ALTER TABLE tx_attempt DROP CONSTRAINT tx_attempt_pkey, ADD PRIMARY KEY (tx_hash, chain_id);
DROP INDEX tx_attempt_slot;
CREATE INDEX tx_attempt_slot ON tx_attempt (signer, nonce, chain_id);
