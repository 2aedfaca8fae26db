DROP TABLE tx_authorization;
