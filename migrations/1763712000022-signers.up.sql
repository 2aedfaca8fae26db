-- locks: signer
-- An operator paused the signer: it gets no new nonces. The index is nearly always empty, and lanes look into it before they read a queue.
ALTER TABLE signer ADD COLUMN paused_at timestamptz;
ALTER TABLE signer ADD COLUMN paused_by text;
ALTER TABLE signer ADD COLUMN pause_reason text;
ALTER TABLE signer ADD CONSTRAINT signer_pause CHECK ((paused_at IS NULL) = (paused_by IS NULL) AND (paused_at IS NOT NULL OR pause_reason IS NULL)) NOT VALID;
ALTER TABLE signer ADD CONSTRAINT signer_pause_reason CHECK (length(pause_reason) <= 500) NOT VALID;
CREATE INDEX signer_paused ON signer (chain_id, address) WHERE paused_at IS NOT NULL;
-- Since when its balance is low; null while it is not. It is told once, whoever owns the signer.
ALTER TABLE signer ADD COLUMN balance_low_at timestamptz;
-- An event is about a tx, or about a signer. Text and NOT VALID, because a domain or a check would read the whole table under its lock.
ALTER TABLE tx_event ADD COLUMN signer text;
ALTER TABLE tx_event ALTER COLUMN tx_id DROP NOT NULL;
ALTER TABLE tx_event ALTER COLUMN to_state DROP NOT NULL;
ALTER TABLE tx_event ADD CONSTRAINT tx_event_about CHECK (
  CASE WHEN signer IS NULL THEN tx_id IS NOT NULL AND to_state IS NOT NULL ELSE tx_id IS NULL AND from_state IS NULL AND to_state IS NULL END) NOT VALID;
ALTER TABLE tx_event ADD CONSTRAINT tx_event_signer CHECK (length(signer) = 42 AND signer ~ '^0x[0-9a-f]*$') NOT VALID;
