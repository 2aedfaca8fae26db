-- The schema, one table after another. Every key of work begins with chain_id or with an id; addresses and hashes are lower-case text in one
-- normal form; wei are numeric(78, 0); nonces and fencing tokens bigint; time is timestamptz by the clock of the database. No foreign keys
-- (docs/decisions/0004-no-foreign-keys-on-the-hot-path.md). Text in an index is COLLATE "C", by its bytes: the order of a language comes from a
-- library of the system, and an upgrade of that breaks the index, also a unique one (rule K10; a test watches over it).

-- The length and a star, not {40} and {64}: a counted repetition costs PostgreSQL's regular expressions 12 microseconds, this costs one
-- (measured on PostgreSQL 18), and the life of a transaction checks some twenty of these.
CREATE DOMAIN evm_address AS text COLLATE "C" CHECK (length(VALUE) = 42 AND VALUE ~ '^0x[0-9a-f]*$');
CREATE DOMAIN evm_hash AS text COLLATE "C" CHECK (length(VALUE) = 66 AND VALUE ~ '^0x[0-9a-f]*$');
CREATE DOMAIN wei AS numeric(78, 0) CHECK (VALUE >= 0);

-- ---------------------------------------------------------------------------------------------------------------------------------------
-- Nodes
-- ---------------------------------------------------------------------------------------------------------------------------------------

-- The running nodes, by their own heartbeats and the clock of the database. Routing reads it; correctness does not depend on it.
CREATE TABLE node (
  node_id        text        COLLATE "C" PRIMARY KEY,
  advertised_url text,
  -- Whether it acts for signers (role worker or all).
  acts           boolean     NOT NULL,
  -- Whether it has an API (role api or all).
  serves         boolean     NOT NULL,
  -- Of node_key_set.
  key_set        text,
  started_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  last_seen_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The signers that a node has keys for, by the digest of the list: nodes with the same keys share a row.
CREATE TABLE node_key_set (
  key_set      text        COLLATE "C" PRIMARY KEY,
  signers      text[]      NOT NULL,
  announced_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- When a node had leases on a chain last: for a while after that, one node goes on following it.
CREATE TABLE chain_activity (
  chain_id     bigint      PRIMARY KEY,
  last_work_at timestamptz NOT NULL
);

-- A new row means that the database may have lost commits: another server or timeline answers, or its log went backwards. Every signer is
-- then reconciled with chain and mempool, once, before anything new is sent for it.
CREATE TABLE database_epoch (
  epoch             bigint      PRIMARY KEY CHECK (epoch > 0),
  -- Of the server that answered; null where it does not tell.
  system_identifier text,
  timeline          bigint,
  evidence          text        NOT NULL,
  node_id           text        NOT NULL,
  started_at        timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- ---------------------------------------------------------------------------------------------------------------------------------------
-- Signers and their nonces
-- ---------------------------------------------------------------------------------------------------------------------------------------

CREATE TABLE signer (
  chain_id       bigint      NOT NULL,
  address        evm_address NOT NULL,
  -- Where the key is kept, never the key.
  custody        jsonb       NOT NULL,
  -- Since when its balance is low; null while it is not. It is told once, whoever owns the signer.
  balance_low_at timestamptz,
  created_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (chain_id, address)
);

-- Operators paused signers, or stopped accounts: they get no new nonces. Chain 0 stands for every chain, and an empty signer or account for every
-- one. Nearly always empty, and lanes look into it before they read a queue, and again in the transaction that gives nonces.
CREATE TABLE signer_pause (
  chain_id bigint      NOT NULL CHECK (chain_id >= 0),
  signer   text        COLLATE "C" NOT NULL CHECK (signer = '' OR length(signer) = 42 AND signer ~ '^0x[0-9a-f]*$'),
  since    timestamptz NOT NULL DEFAULT clock_timestamp(),
  by       text        NOT NULL,
  by_account uuid      NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
  reason   text        CHECK (length(reason) <= 500),
  -- The id of the account whose txs wait, whichever signer they have; and its name, which never changes.
  account  text        COLLATE "C" NOT NULL DEFAULT '',
  account_name text    COLLATE "C" NOT NULL DEFAULT '',
  PRIMARY KEY (chain_id, signer, account),
  CONSTRAINT signer_pause_account CHECK ((account = '') = (account_name = '') AND (account = '' OR chain_id = 0 AND signer = ''))
);

-- Its rows change columns that no index has. With room in their page PostgreSQL writes the new version there and leaves every index alone
-- (HOT); a full page costs an entry in each index for each change. So it is with every fillfactor here.
CREATE TABLE signer_lease (
  chain_id      bigint      NOT NULL,
  signer        evm_address NOT NULL,
  owner_node    text        NOT NULL,
  fencing_token bigint      NOT NULL CHECK (fencing_token > 0),
  -- Whether the lease was given up because its signer had nothing to do. Polling looks at the others.
  idle          boolean     NOT NULL DEFAULT false,
  acquired_at   timestamptz NOT NULL,
  expires_at    timestamptz NOT NULL,
  updated_at    timestamptz NOT NULL,
  PRIMARY KEY (chain_id, signer)
) WITH (fillfactor = 50);
-- This index is the fence, not a look-up: being unique, complete (no WHERE) and over plain columns, it makes a change of
-- fencing_token a *key* update, which waits for every writer that holds the row FOR KEY SHARE. Renewal leaves the key alone
-- and waits for nobody. Never make it partial, never drop it (docs/decisions/0002-fence.md; a test watches over it).
CREATE UNIQUE INDEX signer_lease_fence ON signer_lease (chain_id, signer, fencing_token);
CREATE INDEX signer_lease_in_work ON signer_lease (chain_id, signer) WHERE NOT idle;

CREATE TABLE signer_nonce_cursor (
  chain_id       bigint      NOT NULL,
  signer         evm_address NOT NULL,
  -- The next nonce that was never given out.
  next_nonce     bigint      NOT NULL CHECK (next_nonce >= 0),
  fencing_token  bigint      NOT NULL,
  last_synced_at timestamptz NOT NULL,
  -- Hashes of the blocks 0 and 1 of the chain on which its nonces were used, as far as they are known: another chain with the same id has others.
  origin         text[]      NOT NULL DEFAULT '{}',
  -- The chain is behind our books: what is known of it, and since when. Nothing of the signer is sent.
  behind         jsonb,
  behind_since   timestamptz,
  -- Of a signer whose key no node has: the lowest nonce that nobody has and that higher ones wait for, and since when. It is told once.
  gap            bigint,
  gap_since      timestamptz,
  PRIMARY KEY (chain_id, signer),
  CONSTRAINT signer_nonce_cursor_behind CHECK ((behind IS NULL) = (behind_since IS NULL)),
  CONSTRAINT signer_nonce_cursor_gap CHECK ((gap IS NULL) = (gap_since IS NULL))
) WITH (fillfactor = 50);
-- Nearly always empty, and read by every probe of readiness.
CREATE INDEX signer_nonce_cursor_behind ON signer_nonce_cursor (chain_id, signer) WHERE behind IS NOT NULL;
-- Nearly always empty, and read each second.
CREATE INDEX signer_nonce_cursor_gap ON signer_nonce_cursor (chain_id, signer) WHERE gap IS NOT NULL;

-- The slots: one nonce of one signer each.
CREATE TABLE signer_nonce_allocation (
  chain_id      bigint      NOT NULL,
  signer        evm_address NOT NULL,
  nonce         bigint      NOT NULL CHECK (nonce >= 0),
  status        text        NOT NULL CHECK (status IN ('HELD', 'CONSUMED', 'RELEASED')),
  -- What holds it: a managed tx, or a grant of tx_authorization.
  tx_id         uuid,
  -- The hash that was mined for good. A foreign transaction consumes a nonce by a hash that we do not know, and for nobody.
  tx_hash       evm_hash,
  -- An outside sender had it once, and may have sent something with it: no payload of ours gets it.
  outside       boolean     NOT NULL DEFAULT false,
  fencing_token bigint      NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (chain_id, signer, nonce),
  CONSTRAINT signer_nonce_allocation_by_status CHECK (
    CASE status WHEN 'CONSUMED' THEN tx_hash IS NOT NULL OR tx_id IS NULL WHEN 'RELEASED' THEN tx_id IS NULL ELSE true END)
);
-- A payload sits on at most one live slot.
CREATE UNIQUE INDEX signer_nonce_allocation_holder ON signer_nonce_allocation (tx_id) WHERE status = 'HELD' AND tx_id IS NOT NULL;
CREATE INDEX signer_nonce_allocation_released ON signer_nonce_allocation (chain_id, signer, nonce) WHERE status = 'RELEASED';
CREATE INDEX signer_nonce_allocation_fills ON signer_nonce_allocation (chain_id, signer, nonce) WHERE status = 'HELD' AND tx_id IS NULL;

-- The most that what is in flight of a signer with daily amounts can take of them, by slot: of all that competes for a nonce one is mined.
CREATE TABLE signer_reserve (
  chain_id bigint      NOT NULL,
  signer   evm_address NOT NULL,
  nonce    bigint      NOT NULL CHECK (nonce >= 0),
  value    wei         NOT NULL,
  fees     wei         NOT NULL,
  PRIMARY KEY (chain_id, signer, nonce)
);

-- What such a signer has spent, in sums of a minute each.
CREATE TABLE signer_spent (
  chain_id     bigint      NOT NULL,
  signer       evm_address NOT NULL,
  -- Until 24 hours after its minute.
  counts_until timestamptz NOT NULL,
  value        wei         NOT NULL,
  fees         wei         NOT NULL,
  PRIMARY KEY (chain_id, signer, counts_until)
);

-- What administrators set by the API for what a signer may sign, beside what the config says. Nothing changes or deletes a row: the highest version
-- of a signer is in force. Whoever writes locks the table, so commits are in the order of seq, and its highest one tells whether anything is new.
CREATE TABLE signer_policy (
  seq        bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  chain_id   bigint      NOT NULL,
  signer     evm_address NOT NULL,
  version    int         NOT NULL CHECK (version > 0),
  -- Null: it was withdrawn.
  rules      jsonb,
  changed_by text        NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT signer_policy_version UNIQUE (chain_id, signer, version)
);

-- The last epoch in which a signer was reconciled; without a row it is the first.
CREATE TABLE signer_reconciliation (
  chain_id      bigint      NOT NULL,
  signer        evm_address NOT NULL,
  epoch         bigint      NOT NULL,
  fencing_token bigint      NOT NULL,
  reconciled_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (chain_id, signer)
);

-- ---------------------------------------------------------------------------------------------------------------------------------------
-- Managed txs, and what belongs to them
-- ---------------------------------------------------------------------------------------------------------------------------------------

CREATE TABLE managed_tx (
  tx_id                 uuid        PRIMARY KEY,
  chain_id              bigint      NOT NULL,
  signer                evm_address NOT NULL,
  -- A fill, the no-op that consumes a nonce gap, and a hold, a nonce for an outside sender, are managed txs of their own kinds.
  kind                  text        COLLATE "C" NOT NULL DEFAULT 'payload' CHECK (kind IN ('payload', 'fill', 'hold')),
  -- Who sent the request. Fills belong to the account of the operators.
  account_id            uuid        NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
  request_id            text        COLLATE "C" NOT NULL CHECK (length(request_id) BETWEEN 1 AND 200),
  request_hash          evm_hash    NOT NULL,
  -- What the client asked for; immutable, but for the signatures of authorizations in the options, and the end of what others wait for.
  to_address            evm_address,
  value                 wei         NOT NULL,
  data                  bytea       NOT NULL,
  options               jsonb       NOT NULL,
  priority              integer     NOT NULL,
  -- Null where the rule of the chain counts.
  confirmations         integer     CHECK (confirmations >= 0),
  expires_at            timestamptz,
  metadata              jsonb,
  -- How far it got; written under the fence.
  state                 text        COLLATE "C" NOT NULL CHECK (state IN (
    'PENDING', 'ALLOCATED', 'IN_MEMPOOL', 'MINED', 'CONFIRMED', 'FAILED', 'CANCELLED', 'REPLACED', 'DROPPED')),
  sub_state             text        CHECK (sub_state IN (
    'NONCE_SYNC', 'STALE', 'FEE_CAPPED', 'INSUFFICIENT_FUNDS', 'OUTCOME_UNKNOWN', 'CANCELLING', 'REFUSED', 'REPLACING', 'REORG_DETECTED', 'SIGNER_PAUSED',
    'NODE_REFUSED', 'NODE_UNAVAILABLE', 'SIMULATION_REVERTED', 'POOL_LIMIT', 'SIGNER_UNAVAILABLE', 'POLICY_HELD', 'ACCOUNT_STOPPED')),
  nonce                 bigint      CHECK (nonce >= 0),
  gas_limit             bigint      CHECK (gas_limit > 0),
  tx_hash               evm_hash,
  last_submit_at        timestamptz,
  next_resubmit_at      timestamptz,
  next_receipt_check_at timestamptz,
  receipt               jsonb,
  block_number          bigint,
  block_hash            evm_hash,
  confirmed_at          timestamptz,
  failure_reason        text,
  tries                 integer     NOT NULL DEFAULT 0,
  -- Nonces in a row that no-ops used because no node took its payload.
  requeues              integer     NOT NULL DEFAULT 0,
  last_error            text,
  -- Set while a no-op competes with the payload for its slot: what the tx becomes if the no-op is mined, why, and whether it was mined.
  closing               jsonb       CHECK (
    closing IS NULL OR (coalesce(closing ->> 'as', '') IN ('FAILED', 'CANCELLED', 'PENDING') AND closing ? 'reason' AND coalesce(jsonb_typeof(closing -> 'won'), '') = 'boolean')),
  -- When to look again at a tx that expired and could not be closed; null for its expires_at.
  close_due_at          timestamptz,
  -- A replacement is a managed tx that competes with another one for its slot.
  replaces              uuid,
  replaced_by           uuid,
  -- A replacement of it that the nodes refused, and that may be out all the same.
  withdrawn_replacement uuid,
  fencing_token         bigint,
  version               integer     NOT NULL DEFAULT 0,
  created_at            timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at            timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT managed_tx_request UNIQUE (chain_id, signer, account_id, request_id),
  CONSTRAINT managed_tx_nonce_by_state CHECK (
    CASE WHEN state = 'PENDING' THEN nonce IS NULL
         WHEN state IN ('ALLOCATED', 'IN_MEMPOOL', 'MINED', 'CONFIRMED') THEN nonce IS NOT NULL
         ELSE true END),
  CONSTRAINT managed_tx_block_by_state CHECK (
    CASE WHEN state IN ('MINED', 'CONFIRMED') THEN receipt IS NOT NULL AND block_number IS NOT NULL AND block_hash IS NOT NULL AND tx_hash IS NOT NULL
         WHEN state IN ('PENDING', 'ALLOCATED', 'IN_MEMPOOL') THEN receipt IS NULL AND block_number IS NULL AND block_hash IS NULL
         ELSE true END),
  CONSTRAINT managed_tx_reason_by_state CHECK (state <> 'FAILED' OR failure_reason IS NOT NULL),
  CONSTRAINT managed_tx_replaced_by CHECK (state <> 'REPLACED' OR replaced_by IS NOT NULL)
);
-- The hot scans hold live rows only, so that a million finished transactions cost nothing. Work that is due is read for each signer alone,
-- the longest due first.
CREATE INDEX managed_tx_by_signer ON managed_tx (chain_id, signer, tx_id);
-- For each number of confirmations one range of blocks, so that what is not deep enough is never looked at. A tx enters it when it is mined
-- and leaves it when it is settled.
CREATE INDEX managed_tx_mined ON managed_tx (chain_id, confirmations, block_number) WHERE state = 'MINED';
-- What waits, by when it is ready: always, while it was not tried, else when its timer runs out. What is not due lies behind all that is.
CREATE INDEX managed_tx_waiting ON managed_tx (chain_id, signer, (coalesce(next_resubmit_at, '-infinity'::timestamptz)), (-priority), tx_id) WHERE state = 'PENDING';
-- Lists by state. What is in flight is bounded and read from managed_tx_live; each of its states would cost every tx an entry here.
CREATE INDEX managed_tx_by_state ON managed_tx (chain_id, state, tx_id) WHERE state NOT IN ('ALLOCATED', 'IN_MEMPOOL', 'MINED');
-- One signer's, of states that are rare among all that it ever sent.
CREATE INDEX managed_tx_ended_by_signer ON managed_tx (chain_id, signer, state, tx_id) WHERE state IN ('FAILED', 'CANCELLED', 'REPLACED', 'DROPPED');
-- Lists of an account. Those of the account of the operators read the other indexes: most deployments have no other account, and their txs no entry here.
CREATE INDEX managed_tx_by_account ON managed_tx (account_id, tx_id) WHERE account_id <> '00000000-0000-0000-0000-000000000000'::uuid;
-- What waits of an account, to count it.
CREATE INDEX managed_tx_waiting_of_account ON managed_tx (account_id) WHERE state = 'PENDING' AND account_id <> '00000000-0000-0000-0000-000000000000'::uuid;
-- Holds whose transactions nobody has seen yet.
CREATE INDEX managed_tx_holds ON managed_tx (chain_id, signer, nonce) WHERE kind = 'hold' AND state IN ('ALLOCATED', 'IN_MEMPOOL');
-- Lists of fills and of holds (`?kind=fill`, `?kind=hold`). They are rare among all that a signer ever sent.
CREATE INDEX managed_tx_fills ON managed_tx (chain_id, signer, kind, tx_id) WHERE kind <> 'payload';
-- Also a guard: one live tx for each slot, and one live replacement for each of these.
CREATE UNIQUE INDEX managed_tx_live ON managed_tx (chain_id, signer, nonce, (coalesce(replaces, '00000000-0000-0000-0000-000000000000'::uuid))) WHERE state IN ('ALLOCATED', 'IN_MEMPOOL', 'MINED');
-- Waiting txs that the balance did not cover. Nothing behind them in the queue gets a nonce before they do.
CREATE INDEX managed_tx_parked ON managed_tx (chain_id, signer, (-priority), tx_id) WHERE state = 'PENDING' AND sub_state = 'INSUFFICIENT_FUNDS';
-- Waiting txs for which the daily amounts of their policy had no room.
CREATE INDEX managed_tx_held ON managed_tx (chain_id, signer, (-priority), tx_id) WHERE state = 'PENDING' AND sub_state = 'POLICY_HELD';
-- Waiting txs that were set aside because their account is stopped.
CREATE INDEX managed_tx_stopped ON managed_tx (account_id, tx_id) WHERE state = 'PENDING' AND sub_state = 'ACCOUNT_STOPPED';
CREATE INDEX managed_tx_resubmit_due ON managed_tx (chain_id, signer, next_resubmit_at, nonce) WHERE state IN ('ALLOCATED', 'IN_MEMPOOL');
CREATE INDEX managed_tx_receipt_due ON managed_tx (chain_id, signer, next_receipt_check_at) WHERE state = 'IN_MEMPOOL';
-- Txs that have an end and did not reach it; no other tx has an entry.
CREATE INDEX managed_tx_expiring ON managed_tx (chain_id, signer, (coalesce(close_due_at, expires_at))) WHERE state IN ('PENDING', 'ALLOCATED', 'IN_MEMPOOL') AND closing IS NULL AND replaced_by IS NULL AND expires_at IS NOT NULL;
-- Waiting txs that were tried, for the one case that more of them are due than a lane has room for: by priority.
CREATE INDEX managed_tx_tried ON managed_tx (chain_id, signer, (-priority), next_resubmit_at) WHERE state = 'PENDING' AND next_resubmit_at IS NOT NULL;

-- The signed transactions.
CREATE TABLE tx_attempt (
  chain_id                 bigint      NOT NULL,
  tx_hash                  evm_hash    NOT NULL,
  signer                   evm_address NOT NULL,
  nonce                    bigint      NOT NULL,
  tx_id                    uuid,
  kind                     text        NOT NULL CHECK (kind IN ('payload', 'cancel', 'fill')),
  -- EIP-2718 type of the signed bytes.
  tx_type                  smallint    NOT NULL DEFAULT 2 CONSTRAINT tx_attempt_type_check CHECK (tx_type BETWEEN 0 AND 4),
  raw                      bytea       NOT NULL,
  gas_limit                bigint      NOT NULL,
  max_fee_per_gas          wei         NOT NULL,
  max_priority_fee_per_gas wei         NOT NULL,
  max_fee_per_blob_gas     numeric     CONSTRAINT tx_attempt_blob_fee_check CHECK (max_fee_per_blob_gas >= 0),
  -- The block of the fee quote that priced it; a bump is due some blocks later.
  priced_at_block          bigint,
  status                   text        NOT NULL CHECK (status IN ('SIGNED', 'UNSENT', 'ACCEPTED', 'REJECTED', 'UNKNOWN', 'MINED', 'LOST')),
  error_class              text,
  last_error               text,
  fencing_token            bigint      NOT NULL,
  created_at               timestamptz NOT NULL DEFAULT clock_timestamp(),
  last_sent_at             timestamptz,
  -- Two indexes that begin with the same column look alike to a planner that knows the table as empty, and the plan it makes then is kept.
  -- So each index of this table begins with what only it can find.
  PRIMARY KEY (tx_hash, chain_id),
  CONSTRAINT tx_attempt_owner CHECK (kind = 'fill' OR tx_id IS NOT NULL)
) WITH (fillfactor = 70);
CREATE INDEX tx_attempt_slot ON tx_attempt (signer, nonce, chain_id);
CREATE INDEX tx_attempt_tx ON tx_attempt (tx_id);

-- What travels beside blob transactions (EIP-4844). Apart from managed_tx, so that lanes do not read it.
CREATE TABLE tx_blob (
  tx_id       uuid     NOT NULL,
  position    smallint NOT NULL CHECK (position >= 0),
  -- Without the zeros at its end.
  blob        bytea    NOT NULL CHECK (octet_length(blob) <= 131072),
  commitment  bytea    NOT NULL CHECK (octet_length(commitment) = 48),
  blob_proof  bytea    NOT NULL CHECK (octet_length(blob_proof) = 48),
  cell_proofs bytea    NOT NULL CHECK (octet_length(cell_proofs) = 6144),
  PRIMARY KEY (tx_id, position)
);

-- What clients asked for about txs that have a nonce: only the owner of the signer may carry it out.
CREATE TABLE tx_command (
  command_id   uuid        PRIMARY KEY,
  chain_id     bigint      NOT NULL,
  signer       evm_address NOT NULL,
  tx_id        uuid        NOT NULL,
  -- Who sent it: that of the tx, or that of an operator.
  account_id   uuid        NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
  kind         text        COLLATE "C" NOT NULL CHECK (kind IN ('cancel', 'replace', 'speed_up', 'release', 'consume', 'extend', 'close')),
  request_id   text        COLLATE "C" NOT NULL CHECK (length(request_id) BETWEEN 1 AND 200),
  request_hash evm_hash    NOT NULL,
  options      jsonb       NOT NULL DEFAULT '{}',
  -- Of a replace: the tx with the new payload, which is the tx itself when it was still PENDING.
  replacement  uuid,
  status       text        NOT NULL CHECK (status IN ('QUEUED', 'DONE', 'REFUSED')),
  refusal      text,
  -- One that could not be carried out is due again later.
  due_at       timestamptz NOT NULL DEFAULT '-infinity',
  tries        integer     NOT NULL DEFAULT 0,
  created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  decided_at   timestamptz,
  CONSTRAINT tx_command_request UNIQUE (chain_id, signer, account_id, request_id),
  CONSTRAINT tx_command_refusal CHECK ((status = 'REFUSED') = (refusal IS NOT NULL)),
  CONSTRAINT tx_command_replacement CHECK ((kind = 'replace') = (replacement IS NOT NULL))
);
CREATE INDEX tx_command_tx ON tx_command (tx_id, command_id);
CREATE INDEX tx_command_queued ON tx_command (chain_id, signer, due_at, command_id) WHERE status = 'QUEUED';
CREATE INDEX tx_command_waiting ON tx_command (tx_id, kind) WHERE status = 'QUEUED';

-- Authorizations (EIP-7702) of a tx that Lockstep signs with the keys of other signers. A row lasts until it is known whether its nonce was
-- used. Its id holds the slot of the nonce.
CREATE TABLE tx_authorization (
  grant_id   uuid        PRIMARY KEY DEFAULT gen_random_uuid(),
  tx_id      uuid        NOT NULL,
  chain_id   bigint      NOT NULL,
  authority  evm_address NOT NULL,
  -- Null until it is signed.
  nonce      bigint      CHECK (nonce >= 0),
  granted_at timestamptz,
  -- How often it was taken back, or lost its turn.
  tries      integer     NOT NULL DEFAULT 0,
  due_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT tx_authorization_granted CHECK ((nonce IS NULL) = (granted_at IS NULL))
);
CREATE UNIQUE INDEX tx_authorization_tx ON tx_authorization (tx_id, authority);
CREATE INDEX tx_authorization_authority ON tx_authorization (chain_id, authority, created_at);

-- Permits of txs, which Lockstep signs with the keys of their owners, and the nonces of contracts that they use: no nonces of an account. A row
-- waits (WANTED), has the nonce while its tx may still be mined with it (HELD), and keeps it when the chain says that it was used (CONSUMED).
-- LOST: its tx was sent with a permit whose commit was lost, so nobody here knows the nonce.
CREATE TABLE permit_nonce (
  permit_id     uuid          PRIMARY KEY DEFAULT gen_random_uuid(),
  tx_id         uuid          NOT NULL,
  -- Of the permit in the request.
  position      smallint      NOT NULL CHECK (position >= 0),
  chain_id      bigint        NOT NULL,
  contract      evm_address   NOT NULL,
  owner         evm_address   NOT NULL,
  -- The signer of the tx.
  sender        evm_address   NOT NULL,
  -- Null until it is signed.
  nonce         numeric(78,0) CHECK (nonce >= 0),
  status        text          COLLATE "C" NOT NULL DEFAULT 'WANTED' CHECK (status IN ('WANTED', 'HELD', 'LOST', 'CONSUMED', 'RELEASED')),
  made_at       timestamptz,
  -- Of the permit, in seconds since 1970; where that is lost, not before it.
  deadline      bigint,
  -- How often it was taken back.
  tries         integer       NOT NULL DEFAULT 0,
  due_at        timestamptz   NOT NULL DEFAULT clock_timestamp(),
  -- Of the lease of the owner that wrote it last.
  fencing_token bigint,
  created_at    timestamptz   NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT permit_nonce_by_status CHECK ((status IN ('WANTED', 'LOST')) = (nonce IS NULL) AND (nonce IS NULL) = (made_at IS NULL) AND (status = 'WANTED') = (deadline IS NULL))
);
-- Also a guard: nothing is signed twice with one nonce, unless the chain says that it was not used.
CREATE UNIQUE INDEX permit_nonce_used ON permit_nonce (chain_id, contract, owner, nonce) WHERE status IN ('HELD', 'CONSUMED');
CREATE UNIQUE INDEX permit_nonce_tx ON permit_nonce (tx_id, position);
-- Those that wait may be many, of each sender. Only a few have a nonce that is not decided.
CREATE INDEX permit_nonce_wanted ON permit_nonce (chain_id, owner, contract, sender, due_at) WHERE status = 'WANTED';
CREATE INDEX permit_nonce_held ON permit_nonce (chain_id, owner, contract) WHERE status IN ('HELD', 'LOST');

-- The blocks that were followed, also those that a reorg orphaned.
CREATE TABLE chain_block (
  chain_id    bigint   NOT NULL,
  number      bigint   NOT NULL,
  hash        evm_hash NOT NULL,
  parent_hash evm_hash NOT NULL,
  -- NULL: what it changes is being written. A node that came to no end with it has a block here that nobody followed.
  canonical   boolean,
  PRIMARY KEY (chain_id, number, hash)
);
CREATE UNIQUE INDEX chain_block_canonical ON chain_block (chain_id, number) WHERE canonical;

-- ---------------------------------------------------------------------------------------------------------------------------------------
-- Who calls
-- ---------------------------------------------------------------------------------------------------------------------------------------

-- Who owns keys of the API, and what is made with them. Names are for people and config, and never change.
CREATE TABLE account (
  account_id  uuid        PRIMARY KEY,
  name        text        COLLATE "C" NOT NULL UNIQUE CHECK (length(name) <= 100 AND name ~ '^[A-Za-z0-9][A-Za-z0-9._-]*$'),
  -- How much it may use; null for what is not limited by itself.
  limits      jsonb       CHECK (jsonb_typeof(limits) = 'object'),
  -- Its keys cannot be used while it is disabled.
  disabled_at timestamptz,
  created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT account_default CHECK (account_id <> '00000000-0000-0000-0000-000000000000' OR disabled_at IS NULL)
);
-- Of the operators.
INSERT INTO account (account_id, name) VALUES ('00000000-0000-0000-0000-000000000000', 'default');

-- Keys of the API. What a key may do never changes; one that ended stays, so that it is known who it was.
CREATE TABLE api_key (
  key_id       uuid        PRIMARY KEY,
  account_id   uuid        NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
  name         text        NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  -- SHA-256 of 256 random bits, in hex.
  secret_hash  text        NOT NULL CHECK (secret_hash ~ '^[0-9a-f]{64}$'),
  scopes       text[]      NOT NULL CHECK (cardinality(scopes) > 0),
  -- It may use no others; null stands for all. A signer is chain_id:address, and where there are signers, chain_ids are theirs.
  signers      text[],
  chain_ids    bigint[],
  expires_at   timestamptz,
  revoked_at   timestamptz,
  last_used_at timestamptz,
  created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  CHECK (signers IS NULL OR chain_ids IS NOT NULL)
);

-- What administrators did, by the API or the command line: written by the transaction that did it. Nothing changes it.
CREATE TABLE audit_entry (
  seq        bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at         timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Of the actor.
  account_id uuid        NOT NULL,
  actor      text        NOT NULL,
  -- The operationId of the API.
  action     text        NOT NULL,
  object     text        NOT NULL,
  detail     jsonb       NOT NULL
);
CREATE INDEX audit_entry_account ON audit_entry (account_id, seq);

-- ---------------------------------------------------------------------------------------------------------------------------------------
-- Events, and their ways out
-- ---------------------------------------------------------------------------------------------------------------------------------------

-- The append-only log of every change. A row is about a tx, or about a signer.
CREATE TABLE tx_event (
  -- Readers order by (xid, seq) and read only below pg_snapshot_xmin, so that a late commit is never skipped.
  xid           xid8        NOT NULL DEFAULT pg_current_xact_id(),
  seq           bigint      GENERATED ALWAYS AS IDENTITY,
  chain_id      bigint      NOT NULL,
  tx_id         uuid,
  -- Null where the event is about a tx.
  signer        text        CONSTRAINT tx_event_signer CHECK (length(signer) = 42 AND signer ~ '^0x[0-9a-f]*$'),
  reason        text        NOT NULL,
  from_state    text,
  to_state      text,
  node_id       text        NOT NULL,
  -- The caller whose request it is; null for what Lockstep does by itself.
  actor         text,
  fencing_token bigint,
  tx_hash       evm_hash,
  block_number  bigint,
  block_hash    evm_hash,
  error         text,
  detail        jsonb,
  created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (xid, seq),
  CONSTRAINT tx_event_about CHECK (
    CASE WHEN signer IS NULL THEN tx_id IS NOT NULL AND to_state IS NOT NULL ELSE tx_id IS NULL AND from_state IS NULL AND to_state IS NULL END)
);
CREATE INDEX tx_event_history ON tx_event (tx_id, seq);

-- The places of those who read the event log to the end, and of whom each must see each event: the fan-out to webhooks, and brokers.
CREATE TABLE event_reader (
  name          text        COLLATE "C" PRIMARY KEY,
  xid           xid8        NOT NULL,
  seq           bigint      NOT NULL,
  -- Who reads now, when reading takes longer than a database transaction.
  claimed_by    text,
  claimed_until timestamptz,
  updated_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE webhook_endpoint (
  endpoint_id           uuid        PRIMARY KEY,
  account_id            uuid        NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
  url                   text        NOT NULL CHECK (length(url) <= 2000),
  description           text        CHECK (length(description) <= 500),
  -- Null stands for all.
  types                 text[],
  chain_ids             bigint[],
  signers               text[],
  -- It gets only events of requests that name it as their callback.
  callback_only         boolean     NOT NULL DEFAULT false,
  secret                text        NOT NULL,
  -- Each signs until its own end; the newest first.
  previous_secrets      text[]      NOT NULL DEFAULT '{}',
  previous_secret_ends  timestamptz[] NOT NULL DEFAULT '{}',
  -- Its URL has changed, and what the receiver at the last one has put off is not all due yet.
  hastening             boolean     NOT NULL DEFAULT false,
  disabled_at           timestamptz,
  disabled_reason       text,
  -- Since when no delivery has succeeded; null after a success.
  failing_since         timestamptz,
  -- Its rows of webhook_delivery are still being deleted.
  deleted_at            timestamptz,
  -- What was committed before the endpoint was created: visible in the snapshot of its creation, and not above the numbers of that moment.
  -- The numbers also hold in another database cluster, whose ids of database transactions are lower than those of the snapshot.
  created_in            pg_snapshot,
  created_after         bigint,
  created_at            timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at            timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT webhook_endpoint_previous CHECK (cardinality(previous_secrets) = cardinality(previous_secret_ends)),
  CONSTRAINT webhook_endpoint_disabled CHECK ((disabled_at IS NULL) = (disabled_reason IS NULL))
);
-- Enabled endpoints are read in pages of their ids, past those that are disabled or deleted.
CREATE INDEX webhook_endpoint_enabled ON webhook_endpoint (endpoint_id) WHERE disabled_at IS NULL AND deleted_at IS NULL;

CREATE TABLE webhook_delivery (
  endpoint_id   uuid        NOT NULL,
  -- The place of its event. One row of tx_event may be more than one public event: its parts.
  xid           xid8        NOT NULL,
  seq           bigint      NOT NULL,
  part          smallint    NOT NULL,
  -- Deliveries of one tx are made in the order of their events. Null for events of signers, which have no order among them.
  tx_id         uuid,
  type          text        NOT NULL,
  -- What is sent, frozen at the event.
  body          text        NOT NULL,
  event_at      timestamptz NOT NULL,
  status        text        COLLATE "C" NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'delivered', 'dead')),
  tries         integer     NOT NULL DEFAULT 0,
  due_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Until then the node claimed_by is sending it. After that any node may.
  claimed_by    text,
  claimed_until timestamptz,
  -- Retries end at this time.
  give_up_at    timestamptz NOT NULL,
  answer_status integer,
  answer_body   text,
  error         text,
  tried_at      timestamptz,
  -- When it was delivered, or was given up.
  ended_at      timestamptz,
  created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (endpoint_id, xid, seq, part),
  CONSTRAINT webhook_delivery_ends CHECK ((status = 'waiting') = (ended_at IS NULL))
) WITH (fillfactor = 80);
CREATE INDEX webhook_delivery_due ON webhook_delivery (endpoint_id, due_at) WHERE status = 'waiting';
-- The tx comes first, so that no other index fits a look for what waits before or behind: the others grow with the backlog of an endpoint.
CREATE INDEX webhook_delivery_order ON webhook_delivery (tx_id, endpoint_id, xid, seq, part) WHERE status = 'waiting';
CREATE INDEX webhook_delivery_dead ON webhook_delivery (endpoint_id, xid, seq, part) WHERE status = 'dead';
CREATE INDEX webhook_delivery_ended ON webhook_delivery (status, ended_at) WHERE status <> 'waiting';
