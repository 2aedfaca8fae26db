import { faultsIn, int } from '../fault.js';

const ON_A_CHAIN = int('authorizations');

export const AUTHORIZATIONS = [
  ...faultsIn('modules/transactions/infrastructure/authorization-rows.ts', ON_A_CHAIN, [
    {
      id: 'authorization-of-a-stranger',
      text: 'WHERE s.chain_id = w.chain_id AND s.address = w.authority)',
      becomes: 'WHERE s.chain_id = w.chain_id)',
      why: 'a tx waits for ever for the signature of an account without a key',
    },
    {
      id: 'authorization-insert-one',
      text: 'SELECT w.tx_id, w.chain_id, w.authority FROM unnest($1::uuid[], $2::bigint[], $3::text[]) AS w (tx_id, chain_id, authority)`',
      becomes:
        'SELECT w.tx_id, w.chain_id, w.authority FROM unnest($1::uuid[], $2::bigint[], $3::text[]) AS w (tx_id, chain_id, authority) LIMIT 1`',
      why: 'a tx with two authorities waits for ever for the second one',
    },
  ]),
  ...faultsIn('modules/authorizations/infrastructure/authorization.statements.ts', int('authorization-rows'), [
    {
      id: 'authorization-lock-none',
      text: 'SELECT pg_try_advisory_xact_lock(7250317, $1) AS taken',
      becomes: 'SELECT $1::int > 0 AS taken',
      why: 'two txs that sign for each other at the same moment wait for each other',
    },
    {
      id: 'authorization-lock-of-all-chains',
      text: 'pg_try_advisory_xact_lock(7250317, $1)',
      becomes: 'pg_try_advisory_xact_lock(7250317, 0 * $1)',
      why: 'signers of different chains wait for each other',
    },
    {
      id: 'authorization-open-not-due',
      text: 's.due_at <= clock_timestamp() AND u.next_resubmit_at IS NOT NULL',
      becomes: 'u.next_resubmit_at IS NOT NULL',
      why: 'what was just taken back is signed again at once',
    },
    {
      id: 'authorization-open-before-the-lane',
      text: 's.due_at <= clock_timestamp() AND u.next_resubmit_at IS NOT NULL',
      becomes: 's.due_at <= clock_timestamp()',
      why: 'a long queue of one signer stops the other one',
    },
    {
      id: 'authorization-open-while-the-sender-is-paused',
      text: `AND NOT \${IS_PAUSED('$1', 'u.signer')}`,
      becomes: '',
      why: 'a signer stands still for a payload of a paused one',
    },
    {
      id: 'authorization-open-any',
      text: 'ORDER BY s.chain_id, s.authority, s.created_at LIMIT 10',
      becomes: 'ORDER BY s.chain_id, s.authority, s.created_at DESC LIMIT 10',
      why: 'the oldest one is never signed while new ones come',
    },
    {
      id: 'authorization-open-keeps-replaced',
      text: `CASE WHEN t.state IN \${FINAL_STATES} OR`,
      becomes: `CASE WHEN t.state = 'CONFIRMED' OR`,
      why: 'a nonce is never free again when its tx ended',
    },
    {
      id: 'authorization-overdue-when-sent',
      text: `WHEN t.state = 'PENDING' AND g.granted_at <= clock_timestamp() - \${OVERDUE}`,
      becomes: `WHEN g.granted_at <= clock_timestamp() - \${OVERDUE} AND t.state <> 'PENDING'`,
      why: 'two txs that wait for each other wait for ever',
    },
    {
      id: 'authorization-ready-in-flight',
      text: `AND NOT \${HAS_IN_FLIGHT('g.chain_id', 'g.authority')}`,
      becomes: '',
      why: 'the nonce of an authorization is not the next one, and the chain skips it',
    },
    {
      id: 'authorization-ready-beside-what-was-sent',
      text: `f.state IN ('ALLOCATED', 'IN_MEMPOOL') AND`,
      becomes: `f.state IN ('ALLOCATED') AND`,
      why: 'an authorization is signed with a nonce above one that is not mined, and the chain skips it',
    },
    {
      id: 'authorization-ready-beside-another',
      text: 'WHERE o.chain_id = g.chain_id AND o.authority = g.authority AND o.nonce IS NOT NULL AND ${IS_OUT})',
      becomes:
        'WHERE o.chain_id = g.chain_id AND o.authority = g.authority AND o.nonce IS NULL AND ${IS_OUT} AND false)',
      why: 'the second authorization is mined first, and the chain skips it',
    },
    {
      id: 'authorization-ready-in-any-order',
      text: `(o.authority < g.authority OR \${HAS_IN_FLIGHT('o.chain_id', 'o.authority')})`,
      becomes: `\${HAS_IN_FLIGHT('o.chain_id', 'o.authority')}`,
      why: 'two txs with the same authorities each have one of them',
    },
    {
      id: 'authorization-ready-before-its-own-payload',
      text: `o.nonce IS NOT NULL AND t.signer = g.authority AND t.state = 'PENDING')`,
      becomes: `o.nonce IS NOT NULL AND t.signer = g.authority AND t.state = 'ALLOCATED')`,
      why: 'two signers wait for each other',
    },
    {
      id: 'authorization-list-in-another-order',
      text: 'ELSE item END ORDER BY position)',
      becomes: 'ELSE item END ORDER BY position DESC)',
      why: 'the client is shown another list than it sent',
    },
    {
      id: 'authorization-noted-without-its-node',
      text: `'PENDING', 'PENDING', $5, jsonb_build_object(`,
      becomes: `'PENDING', 'PENDING', 'PENDING' || left($5, 0), jsonb_build_object(`,
      why: 'the history does not tell which node has signed',
    },
    {
      id: 'authorization-grant-twice',
      text: 'WHERE g.grant_id = $3 AND g.nonce IS NULL AND ${IS_READY}',
      becomes: 'WHERE g.grant_id = $3 AND g.nonce IS NULL',
      why: 'a signature is given although something of the signer is in flight',
    },
    {
      id: 'authorization-grant-same-version',
      text: `next_resubmit_at = clock_timestamp(),
             version = t.version + 1`,
      becomes: `next_resubmit_at = clock_timestamp(),
             version = t.version`,
      why: 'a lane that read the tx before gives it a nonce without the signature',
    },
    {
      id: 'authorization-withdraw-another',
      text: 'FROM locked l WHERE g.grant_id = $3 AND g.nonce = $7',
      becomes: 'FROM locked l WHERE g.grant_id = $3 AND g.nonce <> $7 + 1000',
      why: 'a signature that was given meanwhile is taken back with a nonce that is not its own',
    },
    {
      id: 'authorization-withdraw-alone',
      text: 'WHERE g.tx_id = d.tx_id AND g.grant_id <> $3 AND g.nonce IS NULL',
      becomes: 'WHERE g.tx_id = d.tx_id AND g.grant_id = $3 AND g.nonce IS NULL',
      why: 'the other signers of the tx stand still while the first one pauses',
    },
    {
      id: 'authorization-locked-in-any-state',
      text: `AND t.state || '' = 'PENDING' AND \${WANTS}`,
      becomes: `AND \${WANTS}`,
      why: 'a signature is taken back from a tx that was sent, and its nonce is given out again',
    },
    {
      id: 'authorization-end-too-early',
      text: `WHERE g.grant_id = $1 AND g.nonce IS NOT DISTINCT FROM $2::bigint AND t.tx_id = g.tx_id
       AND (t.state IN \${FINAL_STATES} OR`,
      becomes: `WHERE g.grant_id = $1 AND g.nonce IS NOT DISTINCT FROM $2::bigint AND t.tx_id = g.tx_id
       AND (t.state IN ('IN_MEMPOOL', 'CONFIRMED', 'CANCELLED') OR`,
      why: 'the nonce of a signature that is out is given out again',
    },
    {
      id: 'authorization-end-with-another-nonce',
      text: 'g.nonce IS NOT DISTINCT FROM $2::bigint AND t.tx_id',
      becomes: '($2::bigint IS NULL OR true) AND t.tx_id',
      why: 'a grant with another nonce ends, and its own nonce stays held',
    },
    {
      id: 'authorization-postpone-signed',
      text: `WHERE g.tx_id = $1 AND g.nonce IS NULL\``,
      becomes: `WHERE g.tx_id = $1 AND g.nonce IS NOT NULL\``,
      why: 'signers stand still for a tx that gets no nonce',
    },
  ]),
];
