-- locks: node, signer_lease
-- The signers that a node has keys for, by the digest of the list: nodes with the same keys share a row. Null, as in rows of older
-- versions, where a node does not say.
CREATE TABLE node_key_set (
  key_set text PRIMARY KEY,
  signers text[] NOT NULL,
  announced_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
ALTER TABLE node ADD COLUMN key_set text;

-- When a node had leases on a chain last: for a while after that, one node goes on following it.
CREATE TABLE chain_activity (
  chain_id bigint PRIMARY KEY,
  last_work_at timestamptz NOT NULL
);

-- Whether the lease was given up because its signer had nothing to do. Polling looks at the others.
ALTER TABLE signer_lease ADD COLUMN idle boolean NOT NULL DEFAULT false;
CREATE INDEX signer_lease_in_work ON signer_lease (chain_id, signer) WHERE NOT idle;
