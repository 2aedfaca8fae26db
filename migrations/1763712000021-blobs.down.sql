DROP TABLE tx_blob;
