-- The places of those who read the event log to the end, and of whom each must see each event: the fan-out to webhooks, and brokers.
CREATE TABLE event_reader (
  name          text        PRIMARY KEY,
  xid           xid8        NOT NULL,
  seq           bigint      NOT NULL,
  -- Who reads now, when reading takes longer than a database transaction.
  claimed_by    text,
  claimed_until timestamptz,
  updated_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE webhook_endpoint (
  endpoint_id           uuid        PRIMARY KEY,
  url                   text        NOT NULL CHECK (length(url) <= 2000),
  description           text        CHECK (length(description) <= 500),
  -- Null stands for all.
  types                 text[],
  chain_ids             bigint[],
  signers               text[],
  -- It gets only events of requests that name it as their callback.
  callback_only         boolean     NOT NULL DEFAULT false,
  secret                text        NOT NULL,
  previous_secret       text,
  previous_secret_until timestamptz,
  disabled_at           timestamptz,
  disabled_reason       text,
  -- Since when no delivery has succeeded; null after a success.
  failing_since         timestamptz,
  -- Its rows of webhook_delivery are still being deleted.
  deleted_at            timestamptz,
  created_at            timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at            timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT webhook_endpoint_previous CHECK ((previous_secret IS NULL) = (previous_secret_until IS NULL)),
  CONSTRAINT webhook_endpoint_disabled CHECK ((disabled_at IS NULL) = (disabled_reason IS NULL))
);

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
  status        text        NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'delivered', 'dead')),
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
