-- The version before knows neither paused signers nor events about signers: both are lost, and paused signers go on.
ALTER TABLE tx_event DROP CONSTRAINT tx_event_signer;
ALTER TABLE tx_event DROP CONSTRAINT tx_event_about;
DELETE FROM tx_event WHERE tx_id IS NULL;
ALTER TABLE tx_event ALTER COLUMN to_state SET NOT NULL;
ALTER TABLE tx_event ALTER COLUMN tx_id SET NOT NULL;
ALTER TABLE tx_event DROP COLUMN signer;
ALTER TABLE signer DROP COLUMN balance_low_at;
DROP INDEX signer_paused;
ALTER TABLE signer DROP CONSTRAINT signer_pause_reason;
ALTER TABLE signer DROP CONSTRAINT signer_pause;
ALTER TABLE signer DROP COLUMN pause_reason;
ALTER TABLE signer DROP COLUMN paused_by;
ALTER TABLE signer DROP COLUMN paused_at;
