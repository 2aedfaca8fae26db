-- The running instances, by their own heartbeats and the database clock. Routing reads it; correctness does not.
CREATE TABLE node (
  node_id        text        PRIMARY KEY,
  advertised_url text,
  -- Whether it acts for signers (role worker or all).
  acts           boolean     NOT NULL,
  started_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  last_seen_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);
