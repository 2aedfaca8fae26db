DROP TABLE audit_entry, api_key, account, webhook_delivery, webhook_endpoint, event_reader, tx_event, chain_block, tx_authorization, permit_nonce, tx_command, tx_blob, tx_attempt, managed_tx,
  signer_pause, signer_policy, signer_reserve, signer_spent, signer_reconciliation, signer_nonce_allocation, signer_nonce_cursor, signer_lease, signer, database_epoch, chain_activity, node_key_set, node;
DROP DOMAIN wei, evm_hash, evm_address;
