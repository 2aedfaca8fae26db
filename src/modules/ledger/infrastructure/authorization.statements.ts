import { NEXT_XID } from '../../events/index.js';
import { POLICY_MARK } from '../../policies/index.js';
import { isPaused, isStopped } from '../../signers/index.js';
import { FINAL_STATES, IS_OUT } from './managed-tx.rows.js';
import { READY_SINCE } from './pg-tx-queue.js';

/** A tx without a nonce for so long gives its signatures back. Long enough to prove at a second block that its gas estimate reverts. */
const OVERDUE = `interval '30 seconds'`;

/** For so long a tx in flight may keep an authority from what waits for it. Then its time ends, and its owner closes its slot. */
const LONGEST_IN_FLIGHT = `interval '10 minutes'`;

/** What tx `t` says about grant `g`. It holds the name of its authority also before the signature. */
const ENTRY = `jsonb_build_object('authorizationList', jsonb_build_array(jsonb_build_object('authority', g.authority)))`;
const WANTS = `(t.options @> ${ENTRY})`;

/** A live node acts for the account, and it is not paused. */
export const ACTS = (chain: string, address: string): string =>
  `NOT ${isPaused(chain, address)} AND EXISTS (SELECT FROM signer_lease l WHERE l.chain_id = ${chain} AND l.signer = ${address} AND l.expires_at > clock_timestamp())`;

/** The sender of a tx that waits cannot pay for it, or has no price or no room for it. */
export const IS_UNPAID = (tx: string): string =>
  `(coalesce(${tx}.sub_state, '') IN ('INSUFFICIENT_FUNDS', 'FEE_CAPPED', 'POLICY_HELD', 'ACCOUNT_STOPPED'))`;

/** That, or it is paused, or cannot pay for what is before it. */
const CANNOT_GO = (tx: string): string => `(
  ${isPaused(`${tx}.chain_id`, `${tx}.signer`, `${tx}.account_id`)} OR ${IS_UNPAID(tx)}
  OR EXISTS (SELECT FROM managed_tx k
              WHERE k.chain_id = ${tx}.chain_id AND k.signer = ${tx}.signer AND k.state = 'PENDING' AND k.sub_state = 'INSUFFICIENT_FUNDS' AND k.next_resubmit_at > clock_timestamp()
                AND (-k.priority, k.tx_id) < (-${tx}.priority, ${tx}.tx_id)))`;

/** The lane of tx `u` has come to it, and no node refuses it. */
export const IS_REACHED = `u.state = 'PENDING' AND u.next_resubmit_at IS NOT NULL AND coalesce(u.sub_state, '') NOT IN ('NODE_REFUSED', 'NODE_UNAVAILABLE')`;

/**
 * Whether tx `u` wants grant `s` now: its lane has come to it, and found that it has a price and money; and its sender and all authorities that did not
 * sign yet act. Nobody is held back for a tx that waits for somebody else.
 */
const IS_WANTED = `
  ${IS_REACHED} AND NOT ${CANNOT_GO('u')} AND ${ACTS('s.chain_id', 'u.signer')}
  AND NOT EXISTS (SELECT FROM tx_authorization o WHERE o.tx_id = s.tx_id AND o.nonce IS NULL AND NOT (${ACTS('s.chain_id', 'o.authority')}))`;

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
 * Whether a payload of the authority of grant `g` could go on without it. Its lane came to it, and found that it waits for nothing but its turn: such ones
 * are among those that are due first. What it costs is not known before its turn.
 */
const HAS_PAYLOAD = `
  EXISTS (SELECT FROM (SELECT tx_id, chain_id, signer, account_id, priority, sub_state FROM managed_tx
                        WHERE chain_id = g.chain_id AND signer = g.authority AND state = 'PENDING' AND ${READY_SINCE} > '-infinity'
                        ORDER BY ${READY_SINCE}, -priority, tx_id LIMIT 100) p
           WHERE p.sub_state IS NULL AND NOT ${CANNOT_GO('p')} AND NOT EXISTS (SELECT FROM tx_authorization o WHERE o.tx_id = p.tx_id AND o.nonce IS NULL))`;

/** Whether its authority is to sign another one now. */
const HAS_WANTED = `
  EXISTS (SELECT FROM tx_authorization s JOIN managed_tx u ON u.tx_id = s.tx_id
           WHERE s.chain_id = g.chain_id AND s.authority = g.authority AND s.nonce IS NULL AND s.due_at <= clock_timestamp() AND ${IS_WANTED})`;

/** Of grant `g` and tx `t`. While the tx may be mined its nonce is nobody else's, however long that takes: the tx would be executed without its authorization. */
const STAGE = `
      CASE WHEN t.state IN ${FINAL_STATES} OR (t.state = 'PENDING' AND NOT ${WANTS}) OR (g.nonce IS NULL AND t.state <> 'PENDING') THEN 'ended'
           WHEN g.nonce IS NULL THEN 'wanted'
           WHEN t.state = 'PENDING' AND (g.granted_at <= clock_timestamp() - ${OVERDUE} OR ${CANNOT_GO('t')}) THEN 'overdue'
           WHEN NOT ${IS_OUT} THEN 'mined'
           WHEN t.state = 'PENDING' OR t.closing IS NOT NULL OR t.replaced_by IS NOT NULL OR t.sub_state = 'REPLACING' THEN 'open'
           WHEN t.expires_at <= clock_timestamp() OR g.granted_at > clock_timestamp() - ${LONGEST_IN_FLIGHT} OR ${isPaused('g.chain_id', 'g.authority')} THEN 'open'
           WHEN ${HAS_PAYLOAD} OR ${HAS_WANTED} THEN 'in_the_way'
           ELSE 'open' END`;

/** Of those that are wanted, the oldest: an authority signs one at a time. */
export const OPEN = {
  name: 'authorization_open',
  text: `
    SELECT g.grant_id, g.tx_id, g.chain_id, g.authority, g.nonce, g.tries, t.signer AS sender,
           ${STAGE} AS stage,
           (SELECT item FROM jsonb_array_elements(t.options -> 'authorizationList') AS item WHERE item ->> 'authority' = g.authority) AS item,
           g.nonce IS NULL AND ${IS_READY} AS ready
      FROM unnest($2::text[]) AS w (authority)
     CROSS JOIN LATERAL (
       (SELECT * FROM tx_authorization s WHERE s.chain_id = $1 AND s.authority = w.authority AND s.nonce IS NOT NULL)
       UNION ALL
       (SELECT s.* FROM tx_authorization s JOIN managed_tx u ON u.tx_id = s.tx_id
         WHERE s.chain_id = $1 AND s.authority = w.authority AND s.nonce IS NULL
           AND (u.state <> 'PENDING' OR (s.due_at <= clock_timestamp() AND ${IS_WANTED}))
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
    SELECT ${NEXT_XID}, chain_id, tx_id, 'updated', state, state, $5, jsonb_build_object('authority', $2::text, 'authorization', $6::text) FROM ${table}`;

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
      RETURNING t.tx_id, t.chain_id, t.state)
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
      RETURNING t.tx_id, t.chain_id, t.state)
    ${NOTED('changed')}`,
};

/**
 * Its time ends now, as that of every tx that expires, and its owner closes its slot: whoever reads it later knows why. Only times of the list of what
 * expires change, so a copy that was read before can still be saved.
 */
export const EXPIRE = {
  name: 'authorization_expire',
  text: `
    WITH changed AS (
      UPDATE managed_tx t SET expires_at = clock_timestamp(), close_due_at = NULL FROM tx_authorization g
       WHERE t.tx_id = $1 AND g.tx_id = $1 AND g.grant_id = $3 AND g.nonce = $4 AND ${STAGE} = 'in_the_way'
      RETURNING t.tx_id, t.chain_id, t.state)
    ${NOTED('changed')}`,
};

export const END = {
  name: 'authorization_end',
  text: `
    DELETE FROM tx_authorization g USING managed_tx t
     WHERE g.grant_id = $1 AND t.tx_id = $3 AND g.tx_id = t.tx_id AND g.nonce IS NOT DISTINCT FROM $2::bigint AND ${STAGE} = 'ended'`,
};

export const POSTPONE = {
  name: 'authorization_postpone',
  text: `
    UPDATE tx_authorization g SET due_at = clock_timestamp() + $2::float8 * interval '1 ms', tries = g.tries + 1
     WHERE g.tx_id = $1 AND g.nonce IS NULL`,
};
