import { faultsIn, int } from '../fault.js';

export const BROKER = faultsIn('modules/broker/infrastructure/pg-feed-cursor.ts', int('broker-cursor'), [
  {
    id: 'broker-begins-again',
    text: 'ON CONFLICT (name) DO NOTHING',
    becomes: 'ON CONFLICT (name) DO UPDATE SET xid = excluded.xid, seq = excluded.seq',
    why: 'each start of a node skips or repeats events',
  },
  {
    id: 'broker-begun-by-another-reader',
    text: `SELECT FROM event_reader WHERE name = 'broker'\``,
    becomes: 'SELECT FROM event_reader`',
    why: 'nothing is ever published where webhooks are used',
  },
  {
    id: 'broker-claim-of-another-node',
    text: 'OR claimed_by = $1 OR claimed_until <= clock_timestamp())',
    becomes: 'OR claimed_by = $1 OR claimed_until > clock_timestamp())',
    why: 'two nodes publish at the same time, and no node takes over from a dead one',
  },
  {
    id: 'broker-claim-cannot-be-renewed',
    text: '(claimed_by IS NULL OR claimed_by = $1 OR',
    becomes: '(claimed_by IS NULL OR',
    why: 'publishing pauses each time a claim runs out',
  },
  {
    id: 'broker-claim-too-short',
    text: `$2 * interval '1 millisecond'`,
    becomes: `$2 * interval '1 microsecond'`,
    why: 'nodes take the claim from one another all the time',
  },
  {
    id: 'broker-move-without-claim',
    text: `WHERE name = 'broker' AND claimed_by = $1 AND (xid, seq)`,
    becomes: `WHERE name = 'broker' AND $1 <> '' AND (xid, seq)`,
    why: 'a paused node that goes on moves the cursor past what the present one has not published',
  },
  {
    id: 'broker-move-back',
    text: `AND (xid, seq) < ($2::text::xid8, $3::bigint)`,
    becomes: `AND (xid, seq) <> ($2::text::xid8, $3::bigint)`,
    why: 'events are published again',
  },
  {
    id: 'broker-release-of-another-node',
    text: `claimed_until = NULL WHERE name = 'broker' AND claimed_by = $1`,
    becomes: `claimed_until = NULL WHERE name = 'broker' AND $1 <> ''`,
    why: 'a node that ends takes the claim from the node that publishes',
  },
  {
    id: 'broker-lag-counts-what-is-published',
    text: `WHERE (e.xid, e.seq) > (r.xid, r.seq) ORDER BY e.xid, e.seq LIMIT 1`,
    becomes: `WHERE (e.xid, e.seq) >= (r.xid, r.seq) ORDER BY e.xid, e.seq LIMIT 1`,
    why: 'a broker that has all events seems to be behind',
  },
]);
