-- What is known no more must not keep the constraint from coming back: these nonces are passed, and nobody reads their slots.
DELETE FROM signer_nonce_allocation WHERE status = 'CONSUMED' AND tx_hash IS NULL;
ALTER TABLE signer_nonce_allocation DROP CONSTRAINT signer_nonce_allocation_by_status;
ALTER TABLE signer_nonce_allocation ADD CONSTRAINT signer_nonce_allocation_by_status CHECK (
  CASE status WHEN 'CONSUMED' THEN tx_hash IS NOT NULL WHEN 'RELEASED' THEN tx_id IS NULL ELSE true END);
