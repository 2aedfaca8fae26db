-- A new row means that the database may have lost commits: another server or timeline answers, or its log went backwards. Every signer is
-- then reconciled with chain and mempool, once, before anything new is sent for it.
CREATE TABLE database_epoch (
  epoch bigint PRIMARY KEY CHECK (epoch > 0),
  -- Of the server that answered; null where it does not tell.
  system_identifier text,
  timeline bigint,
  evidence text NOT NULL,
  node_id text NOT NULL,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The last epoch in which a signer was reconciled; without a row it is the first.
CREATE TABLE signer_reconciliation (
  chain_id bigint NOT NULL,
  signer evm_address NOT NULL,
  epoch bigint NOT NULL,
  fencing_token bigint NOT NULL,
  reconciled_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (chain_id, signer)
);
