-- What travels beside blob transactions (EIP-4844). Apart from managed_tx, so that lanes do not read it.
CREATE TABLE tx_blob (
  tx_id uuid NOT NULL,
  position smallint NOT NULL CHECK (position >= 0),
  -- Without the zeros at its end.
  blob bytea NOT NULL CHECK (octet_length(blob) <= 131072),
  commitment bytea NOT NULL CHECK (octet_length(commitment) = 48),
  blob_proof bytea NOT NULL CHECK (octet_length(blob_proof) = 48),
  cell_proofs bytea NOT NULL CHECK (octet_length(cell_proofs) = 6144),
  PRIMARY KEY (tx_id, position)
);
