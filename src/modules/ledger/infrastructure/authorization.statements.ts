import { NEXT_XID } from '../../events/index.js';
import { POLICY_MARK } from '../../policies/index.js';
import { isPaused, isStopped } from '../../signers/index.js';
import { FINAL_STATES, IS_OUT } from './managed-tx.rows.js';

/** A tx without a nonce for so long gives its signatures back. Long enough to prove at a second block that its gas estimate reverts. */
const OVERDUE = `interval '30 seconds'`;

/** What tx `t` says about grant `g`. It holds the name of its authority also before the signature. */
const ENTRY = `jsonb_build_object('authorizationList', jsonb_build_array(jsonb_build_object('authority', g.authority)))`;
const WANTS = `(t.options @> ${ENTRY})`;

/** A live node acts for the account, and it is not paused. */
export const ACTS = (chain: string, address: string): string =>
  `NOT ${isPaused(chain, address)} AND EXISTS (SELECT FROM signer_lease l WHERE l.chain_id = ${chain} AND l.signer = ${address} AND l.expires_at > clock_timestamp())`;

/** Its sender cannot pay for tx `u`, or has no price for it. */
export const IS_STUCK = `coalesce(u.sub_state, '') IN ('INSUFFICIENT_FUNDS', 'FEE_CAPPED', 'NODE_REFUSED', 'NODE_UNAVAILABLE', 'POLICY_HELD', 'ACCOUNT_STOPPED')`;

/** Along managed_tx_live, whose order no other index has. */
const HAS_IN_FLIGHT = (chain: string, address: string): string =>
  `(SELECT true FROM managed_tx f WHERE f.chain_id = ${chain} AND f.signer = ${address} AND f.nonce >= 0 AND f.state IN ('ALLOCATED', 'IN_MEMPOOL') AND f.sub_state IS DISTINCT FROM 'REPLACING' ORDER BY f.chain_id, f.signer, f.nonce LIMIT 1) IS NOT NULL`;

/**
 * Whether the authority of grant `g` may sign. Nothing of it is in flight, nor an authorization that it gave before. Each other authority that
 * its tx waits for has nothing in flight either, and those with lower addresses have signed: so two txs with the same authorities never wait
 * for each other. A tx of the authority itself that others have signed for goes first: their nonces wait for it.
 */
const IS_READY = `
  NOT ${isPaused('g.chain_id', 'g.authority')} AND NOT ${HAS_IN_FLIGHT('g.chain_id', 'g.authority')}
  AND NOT EXISTS (SELECT FROM tx_authorization o JOIN managed_tx t ON t.tx_id = o.tx_id
                   WHERE o.chain_id = g.chain_id AND o.authority = g.authority AND o.nonce IS NOT NULL AND ${IS_OUT})
  AND NOT EXISTS (SELECT FROM tx_authorization o WHERE o.tx_id = g.tx_id AND o.nonce IS NULL AND o.authority <> g.authority
                     AND (o.authority < g.authority OR ${HAS_IN_FLIGHT('o.chain_id', 'o.authority')}))
  AND NOT EXISTS (SELECT FROM tx_authorization o JOIN managed_tx t ON t.tx_id = o.tx_id
                   WHERE o.chain_id = g.chain_id AND o.nonce IS NOT NULL AND t.signer = g.authority AND t.state = 'PENDING')`;

/**
 * Wanted ones are read when the lane of the tx has come to it, and found that it has a price and money, and while its sender and all authorities
 * that did not sign yet act: nobody is held back for a tx that waits for somebody else. Of many, the oldest: an authority signs one at a time.
 */
export const OPEN = {
  name: 'authorization_open',
  text: `
    SELECT g.grant_id, g.tx_id, g.chain_id, g.authority, g.nonce, g.tries, t.signer AS sender,
           CASE WHEN t.state IN ${FINAL_STATES} OR (t.state = 'PENDING' AND NOT ${WANTS}) OR (g.nonce IS NULL AND t.state <> 'PENDING') THEN 'ended'
                WHEN g.nonce IS NULL THEN 'wanted'
                WHEN t.state = 'PENDING' AND g.granted_at <= clock_timestamp() - ${OVERDUE} THEN 'overdue'
                WHEN ${IS_OUT} THEN 'open' ELSE 'mined' END AS stage,
           (SELECT item FROM jsonb_array_elements(t.options -> 'authorizationList') AS item WHERE item ->> 'authority' = g.authority) AS item,
           g.nonce IS NULL AND ${IS_READY} AS ready
      FROM unnest($2::text[]) AS w (authority)
     CROSS JOIN LATERAL (
       (SELECT * FROM tx_authorization s WHERE s.chain_id = $1 AND s.authority = w.authority AND s.nonce IS NOT NULL)
       UNION ALL
       (SELECT s.* FROM tx_authorization s JOIN managed_tx u ON u.tx_id = s.tx_id
         WHERE s.chain_id = $1 AND s.authority = w.authority AND s.nonce IS NULL
           AND (u.state <> 'PENDING' OR s.due_at <= clock_timestamp() AND u.next_resubmit_at IS NOT NULL AND NOT ${IS_STUCK} AND NOT ${isStopped('u.account_id')} AND ${ACTS('$1', 'u.signer')}
                AND NOT EXISTS (SELECT FROM tx_authorization o WHERE o.tx_id = s.tx_id AND o.nonce IS NULL AND NOT (${ACTS('$1', 'o.authority')})))
         ORDER BY s.chain_id, s.authority, s.created_at LIMIT 10)) g
      JOIN managed_tx t ON t.tx_id = g.tx_id
     ORDER BY g.created_at`,
};

/** The list with the entry of authority `$2` changed, in its order. */
const LIST_WITH = (change: string): string => `
  jsonb_set(t.options, '{authorizationList}', (
    SELECT jsonb_agg(CASE WHEN item ->> 'authority' = $2 THEN ${change} ELSE item END ORDER BY position)
      FROM jsonb_array_elements(t.options -> 'authorizationList') WITH ORDINALITY AS entry (item, position)))`;

/**
 * Locks the tx that waits; a lane or a command that has it comes first. The lane of the tx then refuses its own older copy, by the version.
 * The state is concatenated so that only the primary key fits.
 */
const LOCKED = `
      SELECT t.tx_id, t.chain_id, t.account_id FROM managed_tx t JOIN tx_authorization g ON g.tx_id = t.tx_id
       WHERE t.tx_id = $1 AND g.grant_id = $3 AND t.state || '' = 'PENDING' AND ${WANTS} FOR UPDATE OF t SKIP LOCKED`;

const NOTED = (table: string): string => `
    INSERT INTO tx_event (xid, chain_id, tx_id, reason, from_state, to_state, node_id, detail)
    SELECT ${NEXT_XID}, chain_id, tx_id, 'updated', 'PENDING', 'PENDING', $5, jsonb_build_object('authority', $2::text, 'authorization', $6::text) FROM ${table}`;

/**
 * Two grants that do not see each other could make their txs wait for each other until one is overdue. The lock is tried in a statement of its
 * own, so that `GRANT` sees what the one before committed. Who does not get it tries again in a second; so does who judged by policies that hold no
 * more, which are read under the fence here, like where a tx gets its nonce.
 */
export const ONE_AT_A_TIME = {
  name: 'authorization_lock',
  text: `SELECT ${POLICY_MARK} = $2 AND pg_try_advisory_xact_lock(7250317, $1) AS taken`,
};

export const GRANT = {
  name: 'authorization_grant',
  text: `
    WITH locked AS (${LOCKED}),
    granted AS (
      UPDATE tx_authorization g SET nonce = $7, granted_at = clock_timestamp() FROM locked l
       WHERE g.grant_id = $3 AND g.nonce IS NULL AND ${IS_READY} AND NOT ${isStopped('l.account_id')}
      RETURNING g.tx_id),
    changed AS (
      UPDATE managed_tx t SET options = ${LIST_WITH('item || $4::jsonb')}, next_resubmit_at = clock_timestamp(),
             version = t.version + 1, updated_at = clock_timestamp()
        FROM granted d WHERE t.tx_id = d.tx_id
      RETURNING t.tx_id, t.chain_id)
    ${NOTED('changed')}`,
};

/** All other authorities of the tx pause with it. */
export const WITHDRAW = {
  name: 'authorization_withdraw',
  text: `
    WITH locked AS (${LOCKED}),
    withdrawn AS (
      UPDATE tx_authorization g SET nonce = NULL, granted_at = NULL, tries = g.tries + 1, due_at = clock_timestamp() + $4::float8 * interval '1 ms'
        FROM locked l WHERE g.grant_id = $3 AND g.nonce = $7
      RETURNING g.tx_id),
    paused AS (
      UPDATE tx_authorization g SET due_at = clock_timestamp() + $4::float8 * interval '1 ms' FROM withdrawn d WHERE g.tx_id = d.tx_id AND g.grant_id <> $3 AND g.nonce IS NULL),
    changed AS (
      UPDATE managed_tx t SET options = ${LIST_WITH(`item - '{nonce,yParity,r,s}'::text[]`)}, version = t.version + 1, updated_at = clock_timestamp()
        FROM withdrawn d WHERE t.tx_id = d.tx_id
      RETURNING t.tx_id, t.chain_id)
    ${NOTED('changed')}`,
};

export const END = {
  name: 'authorization_end',
  text: `
    DELETE FROM tx_authorization g USING managed_tx t
     WHERE g.grant_id = $1 AND g.nonce IS NOT DISTINCT FROM $2::bigint AND t.tx_id = g.tx_id
       AND (t.state IN ${FINAL_STATES} OR (t.state = 'PENDING' AND NOT ${WANTS}) OR (g.nonce IS NULL AND t.state <> 'PENDING'))`,
};

export const POSTPONE = {
  name: 'authorization_postpone',
  text: `
    UPDATE tx_authorization g SET due_at = clock_timestamp() + $2::float8 * interval '1 ms', tries = g.tries + 1
     WHERE g.tx_id = $1 AND g.nonce IS NULL`,
};
