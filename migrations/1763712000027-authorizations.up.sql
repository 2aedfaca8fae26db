-- Authorizations (EIP-7702) of a tx that Lockstep signs with the keys of other signers. A row lasts until it is known whether its nonce was
-- used. Its id holds the slot of the nonce.
CREATE TABLE tx_authorization (
  grant_id uuid NOT NULL DEFAULT gen_random_uuid() PRIMARY KEY,
  tx_id uuid NOT NULL,
  chain_id bigint NOT NULL,
  authority evm_address NOT NULL,
  -- Null until it is signed.
  nonce bigint CHECK (nonce >= 0),
  granted_at timestamptz,
  -- How often it was taken back, or lost its turn.
  tries int NOT NULL DEFAULT 0,
  due_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT tx_authorization_granted CHECK ((nonce IS NULL) = (granted_at IS NULL))
);
CREATE UNIQUE INDEX tx_authorization_tx ON tx_authorization (tx_id, authority);
CREATE INDEX tx_authorization_authority ON tx_authorization (chain_id, authority, created_at);
