DROP TABLE chain_activity;
ALTER TABLE node DROP COLUMN key_set;
DROP TABLE node_key_set;
