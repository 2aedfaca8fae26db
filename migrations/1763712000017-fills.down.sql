-- The version before knows a fill as a held slot without a managed tx, and a consumed one by the hash alone.
UPDATE tx_attempt SET tx_id = NULL WHERE kind = 'fill' AND tx_id IS NOT NULL;
UPDATE signer_nonce_allocation s SET tx_id = NULL FROM managed_tx t WHERE t.tx_id = s.tx_id AND t.kind = 'fill';
DELETE FROM tx_event e USING managed_tx t WHERE t.tx_id = e.tx_id AND t.kind = 'fill';
DELETE FROM managed_tx WHERE kind = 'fill';
ALTER TABLE tx_attempt DROP CONSTRAINT tx_attempt_owner;
ALTER TABLE tx_attempt ADD CONSTRAINT tx_attempt_owner CHECK ((kind = 'fill') = (tx_id IS NULL)) NOT VALID;
ALTER TABLE managed_tx DROP COLUMN closing;
ALTER TABLE managed_tx DROP COLUMN kind;
