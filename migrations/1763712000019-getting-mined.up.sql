-- In the order of the nodes that work meanwhile, who write attempts before their txs: neither side is the victim of a deadlock.
LOCK TABLE tx_attempt, managed_tx IN ACCESS EXCLUSIVE MODE;
-- A replacement is a managed tx that competes with another one for its slot. Constants and NULLs are not written into each row.
ALTER TABLE managed_tx ADD COLUMN replaces uuid;
ALTER TABLE managed_tx ADD COLUMN replaced_by uuid;
ALTER TABLE managed_tx ADD CONSTRAINT managed_tx_replaced_by CHECK (state <> 'REPLACED' OR replaced_by IS NOT NULL) NOT VALID;
-- EIP-2718 type of the signed bytes. All attempts of the versions before are EIP-1559 transactions.
ALTER TABLE tx_attempt ADD COLUMN tx_type smallint NOT NULL DEFAULT 2;
ALTER TABLE tx_attempt ADD CONSTRAINT tx_attempt_type_check CHECK (tx_type BETWEEN 0 AND 4) NOT VALID;
-- Not of the domain wei: its CHECK would make PostgreSQL write every row.
ALTER TABLE tx_attempt ADD COLUMN max_fee_per_blob_gas numeric;
ALTER TABLE tx_attempt ADD CONSTRAINT tx_attempt_blob_fee_check CHECK (max_fee_per_blob_gas >= 0) NOT VALID;
-- The block of the fee quote that priced it; a bump is due some blocks later.
ALTER TABLE tx_attempt ADD COLUMN priced_at_block bigint;
-- What clients asked for about txs that have a nonce: only the owner of the signer may carry it out.
CREATE TABLE tx_command (
  command_id uuid PRIMARY KEY,
  chain_id bigint NOT NULL,
  signer evm_address NOT NULL,
  tx_id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('cancel', 'replace', 'speed_up')),
  request_id text NOT NULL CHECK (length(request_id) BETWEEN 1 AND 200),
  request_hash evm_hash NOT NULL,
  options jsonb NOT NULL DEFAULT '{}',
  -- Of a replace: the tx with the new payload, which is the tx itself when it was still PENDING.
  replacement uuid,
  status text NOT NULL CHECK (status IN ('QUEUED', 'DONE', 'REFUSED')),
  refusal text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  decided_at timestamptz,
  CONSTRAINT tx_command_request UNIQUE (chain_id, signer, request_id),
  CONSTRAINT tx_command_refusal CHECK ((status = 'REFUSED') = (refusal IS NOT NULL)),
  CONSTRAINT tx_command_replacement CHECK ((kind = 'replace') = (replacement IS NOT NULL))
);
CREATE INDEX tx_command_queued ON tx_command (chain_id, command_id) WHERE status = 'QUEUED';
CREATE INDEX tx_command_tx ON tx_command (tx_id, command_id);
