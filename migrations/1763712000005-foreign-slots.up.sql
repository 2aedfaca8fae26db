-- locks: signer_nonce_allocation
-- A nonce that a transaction of somebody else used, for good: consumed by a hash we do not know, and held by nobody.
ALTER TABLE signer_nonce_allocation DROP CONSTRAINT signer_nonce_allocation_by_status;
ALTER TABLE signer_nonce_allocation ADD CONSTRAINT signer_nonce_allocation_by_status CHECK (
  CASE status WHEN 'CONSUMED' THEN tx_hash IS NOT NULL OR tx_id IS NULL WHEN 'RELEASED' THEN tx_id IS NULL ELSE true END);
