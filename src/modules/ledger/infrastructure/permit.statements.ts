import { NEXT_XID } from '../../events/index.js';
import { POLICY_MARK } from '../../policies/index.js';
import { isPaused, isStopped } from '../../signers/index.js';
import { ACTS, IS_REACHED, IS_UNPAID } from './authorization.statements.js';
import { PERMIT_OVER_S } from '../domain/permit.js';
import { FINAL_STATES } from './managed-tx.rows.js';
import { mayBeLost, WAS_MINED } from './permit-rows.js';
import { isSuspect } from './pg-lost-commits.repository.js';

/** A tx without a nonce for so long gives its permit back, when others wait for it. Long enough to prove at a second block that its gas estimate reverts. */
const OVERDUE = `interval '30 seconds'`;

/** What a tx wants by a permit, which it may not any more: its client can put another request in its place. */
const item = (tx: string, row: string): string => `(${tx}.options -> 'permits' -> ${row}.position::int)`;
const wants = (tx: string, row: string): string =>
  `(${item(tx, row)} ->> 'owner' = ${row}.owner AND ${item(tx, row)} ->> 'contract' = ${row}.contract)`;
const hasEnded = (tx: string, row: string): string =>
  `(${tx}.state IN ${FINAL_STATES} OR (${tx}.state = 'PENDING' AND NOT coalesce(${wants(tx, row)}, false)))`;

/**
 * The contract takes the nonces of an owner in their order, so the next permit is made when the one before was mined. What was sent with a permit that
 * was lost has a nonce that nobody here knows, until its tx is mined or waits again.
 */
const IS_FIRST = `
  NOT EXISTS (SELECT FROM permit_nonce o JOIN managed_tx u ON u.tx_id = o.tx_id
               WHERE o.chain_id = g.chain_id AND o.owner = g.owner AND o.contract = g.contract AND o.permit_id <> g.permit_id AND o.status = 'HELD' AND NOT ${WAS_MINED})
  AND NOT ${mayBeLost('g', 'g.owner', 'g.contract')}`;

/** In flight. What is mined may be taken back, and is in flight again then. */
const isOver = (tx: string, row: string): string =>
  `(${tx}.state IN ('ALLOCATED', 'IN_MEMPOOL') AND ${row}.status IN ('HELD', 'LOST') AND ${row}.deadline < extract(epoch FROM clock_timestamp()) - ${PERMIT_OVER_S})`;

/** Its lane has come to it, and found a price and money for it. */
const CAN_USE = `(${IS_REACHED} AND NOT ${IS_UNPAID('u')} AND NOT ${isStopped('u.account_id')})`;

/** To read at once, of one owner. */
const MOST_HELD_PERMITS = 1_000;

/** Somebody can use it now: whoever cannot would get it for nothing. Of many that wait, some are looked at. */
const OTHERS_WAIT = `EXISTS (
  SELECT FROM (SELECT o.tx_id, o.sender FROM permit_nonce o
                WHERE o.chain_id = s.chain_id AND o.owner = s.owner AND o.contract = s.contract AND o.status = 'WANTED' AND o.due_at <= clock_timestamp() LIMIT ${MOST_HELD_PERMITS}) w
    JOIN managed_tx u ON u.tx_id = w.tx_id WHERE ${CAN_USE} AND ${ACTS('$1', 'w.sender')})`;

/** Of one sender and contract: those that wait and were due the longest. */
const PAGE_PERMITS = 20;

/**
 * What is to be done for owners: of each contract the oldest permit that a tx can use, and those that were made and may not have the right nonce or enough time
 * left, or whose txs have ended. Where nothing in a full page can be used, it is `later`, and others come up. Reads a page for each sender, however many wait.
 */
export const OPEN = {
  name: 'permit_open',
  text: `
    SELECT g.permit_id, g.tx_id, g.chain_id, g.contract, g.owner, g.sender, g.nonce, g.deadline, g.tries, t.request_hash, ${item('t', 'g')} AS item,
           extract(epoch FROM clock_timestamp())::bigint AS now, found.stage
      FROM unnest($2::text[]) AS w (owner)
     CROSS JOIN LATERAL (
       (SELECT s.permit_id,
               CASE WHEN ${hasEnded('u', 's')} THEN 'ended'
                    WHEN ${isOver('u', 's')} THEN 'over'
                    WHEN s.status = 'LOST' THEN 'wanted'
                    WHEN s.made_at <= clock_timestamp() - ${OVERDUE} AND ${OTHERS_WAIT} THEN 'overdue'
                    ELSE 'made' END AS stage
          FROM permit_nonce s JOIN managed_tx u ON u.tx_id = s.tx_id
         WHERE s.owner = w.owner AND s.chain_id = $1 AND s.status IN ('HELD', 'LOST') AND s.due_at <= clock_timestamp()
           AND (${hasEnded('u', 's')} OR ${isOver('u', 's')} OR u.state = 'PENDING' AND s.status = 'HELD' AND NOT ${isSuspect('u')} AND (u.next_resubmit_at <= clock_timestamp() + interval '5 seconds' OR s.made_at <= clock_timestamp() - ${OVERDUE})
                OR s.status = 'LOST' AND ${CAN_USE} AND ${ACTS('$1', 's.sender')})
         ORDER BY s.chain_id, s.owner, s.contract LIMIT ${MOST_HELD_PERMITS})
       UNION ALL
       (SELECT one.permit_id, one.stage FROM (
          SELECT s.permit_id, s.stage, row_number() OVER (PARTITION BY s.contract, s.stage ORDER BY s.created_at) AS turn FROM (
            WITH RECURSIVE senders AS (
              (SELECT c.contract, c.sender FROM permit_nonce c WHERE c.chain_id = $1 AND c.owner = w.owner AND c.status = 'WANTED' ORDER BY c.contract, c.sender LIMIT 1)
              UNION ALL
              SELECT n.contract, n.sender FROM senders l
               CROSS JOIN LATERAL (SELECT c.contract, c.sender FROM permit_nonce c WHERE c.chain_id = $1 AND c.owner = w.owner AND c.status = 'WANTED' AND (c.contract, c.sender) > (l.contract, l.sender) ORDER BY c.contract, c.sender LIMIT 1) n)
            SELECT contract, sender, ${ACTS('$1', 'senders.sender')} AS acts FROM senders) of
           CROSS JOIN LATERAL (
             SELECT p.permit_id, p.contract, p.created_at,
                    CASE WHEN ${hasEnded('u', 'p')} THEN 'ended' WHEN of.acts AND ${CAN_USE} THEN 'wanted'
                         WHEN count(*) OVER () = ${PAGE_PERMITS} THEN 'later' END AS stage
               FROM (SELECT * FROM permit_nonce e
                      WHERE e.chain_id = $1 AND e.owner = w.owner AND e.contract = of.contract AND e.sender = of.sender AND e.status = 'WANTED' AND e.due_at <= statement_timestamp()
                      ORDER BY e.due_at LIMIT ${PAGE_PERMITS}) p
               JOIN managed_tx u ON u.tx_id = p.tx_id) s) one
         WHERE one.stage IN ('ended', 'later') OR one.stage = 'wanted' AND one.turn = 1)) found
      JOIN permit_nonce g ON g.permit_id = found.permit_id
      JOIN managed_tx t ON t.tx_id = g.tx_id
     WHERE found.stage <> 'wanted' OR (${IS_FIRST} AND NOT ${isPaused('g.chain_id', 'g.owner')})
     ORDER BY g.created_at`,
};

/** The state is concatenated so that only the primary key fits. What was sent for a suspect is not known: its permit may be out. */
const WAITS = `
       t.tx_id = $1 AND g.permit_id = $2 AND t.state || '' = 'PENDING' AND t.request_hash = $3 AND ${wants('t', 'g')} AND NOT ${isSuspect('t')}`;

/** Locks the tx that waits; a lane or a command that has it comes first. The lane of the tx then refuses its own older copy, by the version. */
const LOCKED = `
      SELECT t.tx_id, t.account_id FROM managed_tx t JOIN permit_nonce g ON g.tx_id = t.tx_id
       WHERE ${WAITS} FOR UPDATE OF t SKIP LOCKED`;

/** The nonce that another one has, the contract had before, or the endpoint lags. */
const IS_FREE = `
  NOT EXISTS (SELECT FROM permit_nonce o
               WHERE o.chain_id = g.chain_id AND o.contract = g.contract AND o.owner = g.owner AND o.nonce = $5 AND o.status IN ('HELD', 'CONSUMED') AND o.permit_id <> g.permit_id)`;

const mayBeMade = (account: string): string => `
       g.nonce IS NOT DISTINCT FROM $4::numeric AND ${POLICY_MARK} = $6
         AND NOT ${isPaused('g.chain_id', 'g.owner')} AND NOT ${isStopped(account)} AND ${IS_FREE} AND ${IS_FIRST}`;

/** Without it, a key would sign once a second what `MAKE` refuses. */
export const MAY_MAKE = {
  name: 'permit_may_make',
  text: `SELECT FROM managed_tx t JOIN permit_nonce g ON g.tx_id = t.tx_id WHERE ${WAITS} AND ${mayBeMade('t.account_id')}`,
};

export const MAKE = {
  name: 'permit_make',
  text: `
    WITH locked AS (${LOCKED}),
    made AS (
      UPDATE permit_nonce g SET status = 'HELD', nonce = $5, made_at = clock_timestamp(), deadline = ($7::jsonb ->> 'deadline')::bigint, due_at = clock_timestamp(), fencing_token = $8
        FROM locked l
       WHERE g.permit_id = $2 AND ${mayBeMade('l.account_id')}
      RETURNING g.*),
    changed AS (
      UPDATE managed_tx t SET options = jsonb_set(t.options, ARRAY['permits', m.position::text, 'made'], $7::jsonb),
             next_resubmit_at = clock_timestamp(), version = t.version + 1, updated_at = clock_timestamp()
        FROM made m WHERE t.tx_id = m.tx_id
      RETURNING t.tx_id, t.chain_id, m.contract, m.owner, m.nonce)
    INSERT INTO tx_event (xid, chain_id, tx_id, reason, from_state, to_state, node_id, detail)
    SELECT ${NEXT_XID}, chain_id, tx_id, 'permit_ready', 'PENDING', 'PENDING', $9,
           jsonb_build_object('contract', contract, 'owner', owner, 'permitNonce', nonce::text, 'deadline', $7::jsonb ->> 'deadline') FROM changed`,
};

export const WITHDRAW = {
  name: 'permit_withdraw',
  text: `
    WITH locked AS (${LOCKED}),
    withdrawn AS (
      UPDATE permit_nonce g SET status = 'WANTED', nonce = NULL, made_at = NULL, deadline = NULL, tries = g.tries + 1, fencing_token = $6, due_at = clock_timestamp() + $5::float8 * interval '1 ms'
        FROM locked l WHERE g.permit_id = $2 AND g.nonce = $4::numeric
      RETURNING g.*)
    UPDATE managed_tx t SET options = t.options #- ARRAY['permits', w.position::text, 'made'], version = t.version + 1, updated_at = clock_timestamp()
      FROM withdrawn w WHERE t.tx_id = w.tx_id`,
};

const HAS_ENDED = `t.tx_id = g.tx_id AND ${hasEnded('t', 'g')}`;

export const END = {
  name: 'permit_end',
  text: `
    UPDATE permit_nonce g SET status = $3, fencing_token = $4 FROM managed_tx t
     WHERE g.permit_id = $1 AND g.nonce = $2::numeric AND g.status = 'HELD' AND ${HAS_ENDED}`,
};

export const LAPSE = {
  name: 'permit_lapse',
  text: `
    UPDATE permit_nonce g SET status = 'WANTED', nonce = NULL, made_at = NULL, deadline = NULL, due_at = clock_timestamp(), fencing_token = $3 FROM managed_tx t
     WHERE g.permit_id = $1 AND g.nonce IS NOT DISTINCT FROM $2::numeric AND t.tx_id = g.tx_id AND ${isOver('t', 'g')}`,
};

/** Its nonce is not known, or it has none. */
export const FORGET = {
  name: 'permit_forget',
  text: `DELETE FROM permit_nonce g USING managed_tx t WHERE g.permit_id = $1 AND g.status IN ('WANTED', 'LOST') AND ${HAS_ENDED}`,
};

export const POSTPONE = {
  name: 'permit_postpone',
  text: `
    UPDATE permit_nonce SET due_at = clock_timestamp() + $2::float8 * interval '1 ms', tries = tries + 1 WHERE permit_id = $1 AND status IN ('WANTED', 'HELD', 'LOST')`,
};

/** Only timers change. */
export const LATER = {
  name: 'permit_later',
  text: `
    UPDATE permit_nonce SET due_at = clock_timestamp() + (5 + 5 * random()) * interval '1 second' WHERE permit_id = ANY($1::uuid[]) AND status = 'WANTED'`,
};
