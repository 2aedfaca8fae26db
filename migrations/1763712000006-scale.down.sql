DROP INDEX signer_lease_in_work;
ALTER TABLE signer_lease DROP COLUMN idle;
DROP TABLE chain_activity;
ALTER TABLE node DROP COLUMN key_set;
DROP TABLE node_key_set;
