import { NEXT_XID } from '../../events/index.js';
import { POLICY_MARK } from '../../policies/index.js';
import { isPaused, isStopped } from '../../signers/index.js';
import { ACTS, IS_STUCK } from './authorization.statements.js';
import { FINAL_STATES } from './managed-tx.rows.js';
import { isSuspect } from './pg-lost-commits.repository.js';

/** A tx without a nonce for so long gives its permit back, when others wait for it. Long enough to prove at a second block that its gas estimate reverts. */
const OVERDUE = `interval '30 seconds'`;

/** What tx `t` wants by permit `g`, which it may not any more: its client can put another request in its place. */
const ITEM = `(t.options -> 'permits' -> g.position::int)`;
const WANTS = `(${ITEM} ->> 'owner' = g.owner AND ${ITEM} ->> 'contract' = g.contract)`;
const wants = (tx: string, row: string): string =>
  WANTS.replaceAll('t.options', `${tx}.options`).replaceAll('g.', `${row}.`);

/** The last block says that what has permit `o` of tx `u` was mined with its payload. */
const WAS_MINED = `(u.state = 'MINED' AND u.closing IS NULL)`;

/**
 * The contract takes the nonces of an owner in their order, so the next permit is made when the one before was mined. What is in flight and has no nonce here
 * had one that the database lost; what else may be, its sender finds out before it goes on.
 */
const IS_FIRST = `
  NOT EXISTS (SELECT FROM permit_nonce o JOIN managed_tx u ON u.tx_id = o.tx_id
               WHERE o.chain_id = g.chain_id AND o.owner = g.owner AND o.contract = g.contract AND o.permit_id <> g.permit_id
                 AND (o.status = 'HELD' AND NOT ${WAS_MINED} OR o.status = 'WANTED' AND (u.state IN ('ALLOCATED', 'IN_MEMPOOL') OR ${isSuspect('u')})))`;

/** Its tx can use it: its lane has come to it, and found a price and money for it. */
const CAN_USE = `
  s.due_at <= clock_timestamp() AND u.next_resubmit_at IS NOT NULL AND NOT ${IS_STUCK} AND NOT ${isStopped('u.account_id')} AND ${ACTS('$1', 'u.signer')}`;

/**
 * What is to be done for owners: of each contract the oldest permit that a tx can use, and all that were made and may not have the right nonce or enough time
 * left, or whose txs have ended.
 */
export const OPEN = {
  name: 'permit_open',
  text: `
    SELECT g.permit_id, g.tx_id, g.position, g.chain_id, g.contract, g.owner, g.nonce, g.tries, t.signer AS sender, t.request_hash, ${ITEM} AS item,
           extract(epoch FROM clock_timestamp())::bigint AS now,
           CASE WHEN t.state IN ${FINAL_STATES} OR (t.state = 'PENDING' AND NOT coalesce(${WANTS}, false)) THEN 'ended'
                WHEN g.status = 'WANTED' THEN 'wanted'
                WHEN g.made_at <= clock_timestamp() - ${OVERDUE} AND EXISTS (
                  SELECT FROM permit_nonce o WHERE o.chain_id = g.chain_id AND o.owner = g.owner AND o.contract = g.contract AND o.status = 'WANTED') THEN 'overdue'
                ELSE 'made' END AS stage
      FROM unnest($2::text[]) AS w (owner)
     CROSS JOIN LATERAL (
       (SELECT s.* FROM permit_nonce s JOIN managed_tx u ON u.tx_id = s.tx_id
         WHERE s.chain_id = $1 AND s.owner = w.owner AND s.status = 'HELD'
           AND (u.state IN ${FINAL_STATES} OR u.state = 'PENDING' AND (u.next_resubmit_at <= clock_timestamp() + interval '5 seconds' OR s.made_at <= clock_timestamp() - ${OVERDUE})))
       UNION ALL
       (SELECT first.* FROM (
          WITH RECURSIVE contracts AS (
            (SELECT c.contract FROM permit_nonce c WHERE c.chain_id = $1 AND c.owner = w.owner AND c.status = 'WANTED' ORDER BY c.contract LIMIT 1)
            UNION ALL
            SELECT (SELECT c.contract FROM permit_nonce c WHERE c.chain_id = $1 AND c.owner = w.owner AND c.status = 'WANTED' AND c.contract > l.contract ORDER BY c.contract LIMIT 1)
              FROM contracts l WHERE l.contract IS NOT NULL)
          SELECT contract FROM contracts WHERE contract IS NOT NULL) of
         CROSS JOIN LATERAL (
           SELECT s.* FROM permit_nonce s JOIN managed_tx u ON u.tx_id = s.tx_id
            WHERE s.chain_id = $1 AND s.owner = w.owner AND s.contract = of.contract AND s.status = 'WANTED'
              AND (u.state IN ${FINAL_STATES} OR u.state = 'PENDING' AND (NOT coalesce(${wants('u', 's')}, false) OR ${CAN_USE}))
            ORDER BY s.chain_id, s.owner, s.contract, s.status, s.created_at LIMIT 1) first)) g
      JOIN managed_tx t ON t.tx_id = g.tx_id
     WHERE g.status = 'HELD' OR t.state <> 'PENDING' OR (${IS_FIRST} AND NOT ${isPaused('g.chain_id', 'g.owner')})
     ORDER BY g.created_at`,
};

/**
 * Locks the tx that waits; a lane or a command that has it comes first. The lane of the tx then refuses its own older copy, by the version.
 * The state is concatenated so that only the primary key fits.
 */
const LOCKED = `
      SELECT t.tx_id, t.account_id FROM managed_tx t JOIN permit_nonce g ON g.tx_id = t.tx_id
       WHERE t.tx_id = $1 AND g.permit_id = $2 AND t.state || '' = 'PENDING' AND t.request_hash = $3 AND ${WANTS} FOR UPDATE OF t SKIP LOCKED`;

/** The nonce that another one has, the contract had before, or the endpoint lags. */
const IS_FREE = `
  NOT EXISTS (SELECT FROM permit_nonce o
               WHERE o.chain_id = g.chain_id AND o.contract = g.contract AND o.owner = g.owner AND o.nonce = $5 AND o.status IN ('HELD', 'CONSUMED') AND o.permit_id <> g.permit_id)`;

export const MAKE = {
  name: 'permit_make',
  text: `
    WITH locked AS (${LOCKED}),
    made AS (
      UPDATE permit_nonce g SET status = 'HELD', nonce = $5, made_at = clock_timestamp(), fencing_token = $8
        FROM locked l
       WHERE g.permit_id = $2 AND g.nonce IS NOT DISTINCT FROM $4::numeric AND ${POLICY_MARK} = $7
         AND NOT ${isPaused('g.chain_id', 'g.owner')} AND NOT ${isStopped('l.account_id')} AND ${IS_FREE} AND ${IS_FIRST}
      RETURNING g.*),
    changed AS (
      UPDATE managed_tx t SET options = jsonb_set(t.options, ARRAY['permits', m.position::text, 'made'], $6::jsonb),
             next_resubmit_at = clock_timestamp(), version = t.version + 1, updated_at = clock_timestamp()
        FROM made m WHERE t.tx_id = m.tx_id
      RETURNING t.tx_id, t.chain_id, m.contract, m.owner, m.nonce)
    INSERT INTO tx_event (xid, chain_id, tx_id, reason, from_state, to_state, node_id, detail)
    SELECT ${NEXT_XID}, chain_id, tx_id, 'permit_ready', 'PENDING', 'PENDING', $9,
           jsonb_build_object('contract', contract, 'owner', owner, 'permitNonce', nonce::text, 'deadline', $6::jsonb ->> 'deadline') FROM changed`,
};

export const WITHDRAW = {
  name: 'permit_withdraw',
  text: `
    WITH locked AS (${LOCKED}),
    withdrawn AS (
      UPDATE permit_nonce g SET status = 'WANTED', nonce = NULL, made_at = NULL, tries = g.tries + 1, fencing_token = $6, due_at = clock_timestamp() + $5::float8 * interval '1 ms'
        FROM locked l WHERE g.permit_id = $2 AND g.nonce = $4::numeric
      RETURNING g.*)
    UPDATE managed_tx t SET options = t.options #- ARRAY['permits', w.position::text, 'made'], version = t.version + 1, updated_at = clock_timestamp()
      FROM withdrawn w WHERE t.tx_id = w.tx_id`,
};

const HAS_ENDED = `t.tx_id = g.tx_id AND (t.state IN ${FINAL_STATES} OR (t.state = 'PENDING' AND NOT coalesce(${WANTS}, false)))`;

export const END = {
  name: 'permit_end',
  text: `
    UPDATE permit_nonce g SET status = $3, fencing_token = $4 FROM managed_tx t
     WHERE g.permit_id = $1 AND g.nonce = $2::numeric AND g.status = 'HELD' AND ${HAS_ENDED}`,
};

/** Never signed. */
export const FORGET = {
  name: 'permit_forget',
  text: `DELETE FROM permit_nonce g USING managed_tx t WHERE g.permit_id = $1 AND g.status = 'WANTED' AND ${HAS_ENDED}`,
};

export const POSTPONE = {
  name: 'permit_postpone',
  text: `
    UPDATE permit_nonce SET due_at = clock_timestamp() + $2::float8 * interval '1 ms', tries = tries + 1 WHERE permit_id = $1 AND status = 'WANTED'`,
};
