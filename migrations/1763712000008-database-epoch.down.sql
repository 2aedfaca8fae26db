DROP TABLE signer_reconciliation;
DROP TABLE database_epoch;
