-- NOT VALID: the rows that are there satisfied the narrower rule before, so they are not read again under an exclusive lock.
ALTER TABLE managed_tx DROP CONSTRAINT managed_tx_sub_state_check;
ALTER TABLE managed_tx ADD CONSTRAINT managed_tx_sub_state_check CHECK (sub_state IN (
  'NONCE_SYNC', 'STALE', 'FEE_CAPPED', 'INSUFFICIENT_FUNDS', 'OUTCOME_UNKNOWN', 'CANCELLING', 'REPLACING', 'REORG_DETECTED', 'SIGNER_PAUSED',
  'NODE_REFUSED', 'NODE_UNAVAILABLE', 'SIMULATION_REVERTED', 'POOL_LIMIT')) NOT VALID;
