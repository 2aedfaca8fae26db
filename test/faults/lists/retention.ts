import { faultsIn, int } from '../fault.js';

/** What old rows are deleted by. */
export const RETENTION = faultsIn(
  'modules/retention/infrastructure/retention.statements.ts',
  int('integration/retention'),
  [
    {
      id: 'retention-lock-of-nobody',
      text: 'pg_try_advisory_xact_lock(7250318, $1)',
      becomes: 'pg_try_advisory_xact_lock_shared(7250318, $1)',
      why: 'all nodes delete the same rows at once',
    },
    {
      id: 'retention-events-everything',
      text: 'ORDER BY p.xid, p.seq LIMIT $3',
      becomes: 'ORDER BY p.xid, p.seq LIMIT $3 + 1',
      why: 'the batches have no limit',
    },
    {
      id: 'retention-events-young',
      text: "WHERE ${OLDER_THAN('p.created_at', '$4')}\n         AND NOT EXISTS",
      becomes: 'WHERE $4::float8 > 0\n         AND NOT EXISTS',
      why: 'all events go',
    },
    {
      id: 'retention-events-unread',
      text: '(r.xid, r.seq) < (p.xid, p.seq)',
      becomes: '(r.xid, r.seq) > (p.xid, p.seq)',
      why: 'a receiver never gets the events that it has not read',
    },
    {
      id: 'retention-events-of-the-living',
      text: 'WHERE t.tx_id = o.tx_id AND t.state NOT IN ${FINAL_STATES})\n      RETURNING 1',
      becomes: "WHERE t.tx_id = o.tx_id AND t.state = 'PENDING')\n      RETURNING 1",
      why: 'a tx in flight has no history',
    },
    {
      id: 'retention-events-from-the-beginning',
      text: '(p.xid, p.seq) > ($1::text::xid8, $2::bigint)',
      becomes: `(p.xid, p.seq) > (LEAST($1::text, '0')::xid8, LEAST($2::bigint, 0))`,
      why: 'each batch reads the events again that have to stay',
    },
    {
      id: 'retention-oldest-is-newest',
      text: 'ORDER BY e.xid, e.seq LIMIT 1',
      becomes: 'ORDER BY e.xid DESC, e.seq DESC LIMIT 1',
      why: 'nobody sees that nothing is deleted',
    },
    {
      id: 'retention-txs-young-id',
      text: "AND p.tx_id < (SELECT ${ID_BEFORE('$2')})",
      becomes: '',
      why: 'the scan reads all of the table',
    },
    {
      id: 'retention-txs-everything',
      text: 'ORDER BY p.tx_id LIMIT $3',
      becomes: 'ORDER BY p.tx_id LIMIT $3 + 1',
      why: 'the batches have no limit',
    },
    {
      id: 'retention-txs-unfinished',
      text: '`\n         t.state IN ${FINAL_STATES} AND ',
      becomes: '`\n         ',
      why: 'payloads that wait are forgotten',
    },
    {
      id: 'retention-txs-just-finished',
      text: " AND ${OLDER_THAN('t.updated_at', '$2')}",
      becomes: '',
      why: 'a tx that waited long is forgotten as soon as it is final',
    },
    {
      id: 'retention-txs-in-a-race',
      text: 'ARRAY[t.replaces, t.replaced_by]',
      becomes: 'ARRAY[t.replaces]',
      why: 'the loser of a race is forgotten before the race is decided',
    },
    {
      id: 'retention-txs-queued-command',
      text: "AND c.status || '' = 'QUEUED'",
      becomes: "AND c.status || '' = 'REFUSED'",
      why: 'a command waits for ever for a tx that is gone',
    },
    {
      id: 'retention-txs-replacement',
      text: 'WHERE c.tx_id = t.tx_id AND r.state NOT IN ${FINAL_STATES})',
      becomes: "WHERE c.tx_id = t.tx_id AND r.state = 'MINED')",
      why: 'the original of a replacement that waits is gone',
    },
    {
      id: 'retention-txs-authorized',
      text: '\n         AND NOT EXISTS (SELECT FROM tx_authorization g WHERE g.tx_id = t.tx_id)',
      becomes: '',
      why: 'the nonce of another signer stays held for ever',
    },
    {
      id: 'retention-txs-held-slot',
      text: "s.tx_id = t.tx_id AND s.status = 'HELD'",
      becomes: "s.tx_id = t.tx_id AND s.status = 'RELEASED'",
      why: 'a held slot has no tx that could ever fill it',
    },
    {
      id: 'retention-txs-newest',
      text: 's.nonce > t.nonce AND',
      becomes: 's.nonce >= t.nonce AND',
      why: 'each search for deep reorgs reads all slots of the signer',
    },
    {
      id: 'retention-txs-unread',
      text: 'JOIN event_reader r ON (r.xid, r.seq) < (e.xid, e.seq)',
      becomes: 'JOIN event_reader r ON (r.xid, r.seq) > (e.xid, e.seq)',
      why: 'a receiver never hears how a tx ended',
    },
    {
      id: 'retention-txs-waits',
      text: 'FOR UPDATE OF t SKIP LOCKED',
      becomes: '',
      why: 'it waits for lanes, and deletes what they have just opened again',
    },
    {
      id: 'retention-events-stay',
      text: 'DELETE FROM tx_event e USING old o WHERE e.tx_id = o.tx_id',
      becomes: 'DELETE FROM tx_event e USING old o WHERE e.tx_id = o.replaces',
      why: 'events of txs stay that nobody can look up',
    },
    {
      id: 'retention-commands-of-all',
      text: 'AND (c.tx_id = o.tx_id OR c.replacement = o.tx_id)',
      becomes: 'AND c.tx_id = o.tx_id',
      why: 'the key of a replacement that is gone answers for ever',
    },
    {
      id: 'retention-slots-stay',
      text: "AND s.status = 'CONSUMED' AND s.tx_id = o.tx_id",
      becomes: "AND s.status = 'RELEASED' AND s.tx_id = o.tx_id",
      why: 'searches along the slots of a signer become longer for ever',
    },
  ],
);
