-- In the order of the nodes that work meanwhile, who write attempts before their txs: neither side is the victim of a deadlock.
LOCK TABLE tx_attempt, managed_tx IN ACCESS EXCLUSIVE MODE;
-- A fill, the no-op that consumes a nonce gap, is a managed tx of its own kind. A constant default is not written into each row.
ALTER TABLE managed_tx ADD COLUMN kind text NOT NULL DEFAULT 'payload';
-- Set while a no-op competes with the payload for its slot: what the tx becomes if the no-op is mined, why, and whether it was mined.
ALTER TABLE managed_tx ADD COLUMN closing jsonb;
-- NOT VALID: the rows that are there satisfy these rules, so they are not read under an exclusive lock.
ALTER TABLE managed_tx ADD CONSTRAINT managed_tx_kind_check CHECK (kind IN ('payload', 'fill')) NOT VALID;
ALTER TABLE managed_tx ADD CONSTRAINT managed_tx_closing_check CHECK (
  closing IS NULL OR (coalesce(closing ->> 'as', '') IN ('FAILED', 'CANCELLED') AND closing ? 'reason' AND coalesce(jsonb_typeof(closing -> 'won'), '') = 'boolean')) NOT VALID;
-- Attempts of fills belong to a managed tx; those that the version before wrote have none.
ALTER TABLE tx_attempt DROP CONSTRAINT tx_attempt_owner;
ALTER TABLE tx_attempt ADD CONSTRAINT tx_attempt_owner CHECK (kind = 'fill' OR tx_id IS NOT NULL) NOT VALID;
