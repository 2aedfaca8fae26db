-- The tables of the design, section 4. Every key starts with chain_id; addresses and hashes are lower-case text in one
-- normal form; wei are NUMERIC(78,0); nonces and fencing tokens BIGINT; time is TIMESTAMPTZ by the database clock.

CREATE DOMAIN evm_address AS text CHECK (VALUE ~ '^0x[0-9a-f]{40}$');
CREATE DOMAIN evm_hash AS text CHECK (VALUE ~ '^0x[0-9a-f]{64}$');
CREATE DOMAIN wei AS numeric(78, 0) CHECK (VALUE >= 0);

CREATE TABLE signer (
  chain_id   bigint      NOT NULL,
  address    evm_address NOT NULL,
  -- Where the key is kept, never the key.
  custody    jsonb       NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (chain_id, address)
);

CREATE TABLE signer_lease (
  chain_id      bigint      NOT NULL,
  signer        evm_address NOT NULL,
  owner_node    text        NOT NULL,
  fencing_token bigint      NOT NULL CHECK (fencing_token > 0),
  acquired_at   timestamptz NOT NULL,
  expires_at    timestamptz NOT NULL,
  updated_at    timestamptz NOT NULL,
  PRIMARY KEY (chain_id, signer)
);
-- This index is the fence, not a look-up: being unique, complete (no WHERE) and over plain columns, it makes a change of
-- fencing_token a *key* update, which waits for every writer that holds the row FOR KEY SHARE. Renewal leaves the key alone
-- and waits for nobody. Never make it partial, never drop it (docs/decisions/0002-fence.md; a test watches over it).
CREATE UNIQUE INDEX signer_lease_fence ON signer_lease (chain_id, signer, fencing_token);

CREATE TABLE signer_nonce_cursor (
  chain_id       bigint      NOT NULL,
  signer         evm_address NOT NULL,
  next_nonce     bigint      NOT NULL CHECK (next_nonce >= 0),
  fencing_token  bigint      NOT NULL,
  last_synced_at timestamptz NOT NULL,
  PRIMARY KEY (chain_id, signer)
);

CREATE TABLE managed_tx (
  tx_id                    uuid        PRIMARY KEY,
  chain_id                 bigint      NOT NULL,
  signer                   evm_address NOT NULL,
  request_id               text        NOT NULL CHECK (length(request_id) BETWEEN 1 AND 200),
  request_hash             evm_hash    NOT NULL,
  -- What the client asked for; immutable.
  to_address               evm_address,
  value                    wei         NOT NULL,
  data                     bytea       NOT NULL,
  options                  jsonb       NOT NULL,
  priority                 integer     NOT NULL,
  expires_at               timestamptz,
  metadata                 jsonb,
  -- How far it got; written under the fence.
  state                    text        NOT NULL CHECK (state IN ('PENDING', 'ALLOCATED', 'IN_MEMPOOL', 'MINED', 'CONFIRMED', 'FAILED', 'CANCELLED', 'REPLACED', 'DROPPED')),
  sub_state                text        CHECK (sub_state IN ('NONCE_SYNC', 'STALE', 'FEE_CAPPED', 'INSUFFICIENT_FUNDS', 'OUTCOME_UNKNOWN', 'CANCELLING', 'REPLACING', 'REORG_DETECTED', 'SIGNER_PAUSED')),
  nonce                    bigint      CHECK (nonce >= 0),
  gas_limit                bigint      CHECK (gas_limit > 0),
  tx_hash                  evm_hash,
  last_submit_at           timestamptz,
  next_resubmit_at         timestamptz,
  next_receipt_check_at    timestamptz,
  receipt                  jsonb,
  block_number             bigint,
  block_hash               evm_hash,
  confirmed_at             timestamptz,
  failure_reason           text,
  fencing_token            bigint,
  version                  integer     NOT NULL DEFAULT 0,
  created_at               timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at               timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT managed_tx_request UNIQUE (chain_id, signer, request_id),
  CONSTRAINT managed_tx_nonce_by_state CHECK (
    CASE WHEN state = 'PENDING' THEN nonce IS NULL
         WHEN state IN ('ALLOCATED', 'IN_MEMPOOL', 'MINED', 'CONFIRMED') THEN nonce IS NOT NULL
         ELSE true END),
  CONSTRAINT managed_tx_block_by_state CHECK (
    CASE WHEN state IN ('MINED', 'CONFIRMED') THEN receipt IS NOT NULL AND block_number IS NOT NULL AND block_hash IS NOT NULL AND tx_hash IS NOT NULL
         WHEN state IN ('PENDING', 'ALLOCATED', 'IN_MEMPOOL') THEN receipt IS NULL AND block_number IS NULL AND block_hash IS NULL
         ELSE true END),
  CONSTRAINT managed_tx_reason_by_state CHECK (state <> 'FAILED' OR failure_reason IS NOT NULL)
);
-- The hot scans hold live rows only, so that a million finished transactions cost nothing.
CREATE INDEX managed_tx_pending ON managed_tx (chain_id, signer, priority DESC, tx_id) WHERE state = 'PENDING';
-- Also a guard: two live transactions never share a nonce.
CREATE UNIQUE INDEX managed_tx_live ON managed_tx (chain_id, signer, nonce) WHERE state IN ('ALLOCATED', 'IN_MEMPOOL', 'MINED');
CREATE INDEX managed_tx_resubmit_due ON managed_tx (chain_id, next_resubmit_at) WHERE state IN ('ALLOCATED', 'IN_MEMPOOL');
CREATE INDEX managed_tx_receipt_due ON managed_tx (chain_id, next_receipt_check_at) WHERE state = 'IN_MEMPOOL';
CREATE INDEX managed_tx_mined ON managed_tx (chain_id, block_number) WHERE state = 'MINED';
CREATE INDEX managed_tx_by_signer ON managed_tx (chain_id, signer, tx_id);

CREATE TABLE signer_nonce_allocation (
  chain_id      bigint      NOT NULL,
  signer        evm_address NOT NULL,
  nonce         bigint      NOT NULL CHECK (nonce >= 0),
  status        text        NOT NULL CHECK (status IN ('HELD', 'CONSUMED', 'RELEASED')),
  -- What holds the slot; null for a fill.
  tx_id         uuid,
  -- The hash that was mined for good.
  tx_hash       evm_hash,
  fencing_token bigint      NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (chain_id, signer, nonce),
  CONSTRAINT signer_nonce_allocation_by_status CHECK (
    CASE status WHEN 'CONSUMED' THEN tx_hash IS NOT NULL WHEN 'RELEASED' THEN tx_id IS NULL ELSE true END)
);
-- A payload sits on at most one live slot.
CREATE UNIQUE INDEX signer_nonce_allocation_holder ON signer_nonce_allocation (tx_id) WHERE status = 'HELD' AND tx_id IS NOT NULL;
CREATE INDEX signer_nonce_allocation_released ON signer_nonce_allocation (chain_id, signer, nonce) WHERE status = 'RELEASED';

CREATE TABLE tx_attempt (
  chain_id                 bigint      NOT NULL,
  tx_hash                  evm_hash    NOT NULL,
  signer                   evm_address NOT NULL,
  nonce                    bigint      NOT NULL,
  -- Null for a fill, which belongs to no request.
  tx_id                    uuid,
  kind                     text        NOT NULL CHECK (kind IN ('payload', 'cancel', 'fill')),
  raw                      bytea       NOT NULL,
  gas_limit                bigint      NOT NULL,
  max_fee_per_gas          wei         NOT NULL,
  max_priority_fee_per_gas wei         NOT NULL,
  status                   text        NOT NULL CHECK (status IN ('SIGNED', 'ACCEPTED', 'REJECTED', 'UNKNOWN', 'MINED', 'LOST')),
  error_class              text,
  last_error               text,
  fencing_token            bigint      NOT NULL,
  created_at               timestamptz NOT NULL DEFAULT clock_timestamp(),
  last_sent_at             timestamptz,
  PRIMARY KEY (chain_id, tx_hash),
  CONSTRAINT tx_attempt_owner CHECK ((kind = 'fill') = (tx_id IS NULL))
);
CREATE INDEX tx_attempt_slot ON tx_attempt (chain_id, signer, nonce);
CREATE INDEX tx_attempt_tx ON tx_attempt (tx_id);

CREATE TABLE chain_block (
  chain_id    bigint      NOT NULL,
  number      bigint      NOT NULL,
  hash        evm_hash    NOT NULL,
  parent_hash evm_hash    NOT NULL,
  timestamp   bigint      NOT NULL,
  canonical   boolean     NOT NULL,
  PRIMARY KEY (chain_id, number, hash)
);
CREATE UNIQUE INDEX chain_block_canonical ON chain_block (chain_id, number) WHERE canonical;

CREATE TABLE tx_event (
  -- Readers order by (xid, seq) and read only below pg_snapshot_xmin, so that a late commit is never skipped.
  xid           xid8        NOT NULL DEFAULT pg_current_xact_id(),
  seq           bigint      GENERATED ALWAYS AS IDENTITY,
  chain_id      bigint      NOT NULL,
  tx_id         uuid        NOT NULL,
  reason        text        NOT NULL,
  from_state    text,
  to_state      text        NOT NULL,
  node_id       text        NOT NULL,
  fencing_token bigint,
  tx_hash       evm_hash,
  block_number  bigint,
  block_hash    evm_hash,
  error         text,
  detail        jsonb,
  created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (xid, seq)
);
CREATE INDEX tx_event_history ON tx_event (tx_id, seq);
