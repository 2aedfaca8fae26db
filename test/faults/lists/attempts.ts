import { faultsIn, int } from '../fault.js';

const SLOT_OF_W = 'WHERE t.chain_id = w.chain_id AND t.signer = w.signer AND t.nonce = w.nonce';

/** Signed bytes, and what became of them. */
export const ATTEMPTS = faultsIn(
  'modules/transactions/infrastructure/pg-attempt.repository.ts',
  int('attempt-repository'),
  [
    {
      id: 'attempt-insert-of-any-holder',
      text: ` AND s.status = 'HELD' AND s.tx_id IS NOT DISTINCT FROM a.tx_id`,
      becomes: ` AND s.status = 'HELD'`,
      why: 'a payload is signed into the slot of another tx',
    },
    {
      id: 'attempt-insert-in-any-status',
      text: `s.nonce = a.nonce AND s.status = 'HELD' AND s.tx_id IS NOT`,
      becomes: 's.nonce = a.nonce AND s.tx_id IS NOT',
      why: 'a payload is signed into a slot that is consumed',
    },
    {
      id: 'attempt-insert-of-any-chain',
      text: 'ON s.chain_id = a.chain_id AND s.signer = a.signer AND s.nonce = a.nonce AND',
      becomes: 'ON s.signer = a.signer AND s.nonce = a.nonce AND',
      why: 'a slot of another chain lets an attempt in',
    },
    {
      id: 'attempt-insert-keeps-the-old-status',
      text: `SET status = 'SIGNED', tx_id = excluded.tx_id, kind`,
      becomes: 'SET tx_id = excluded.tx_id, kind',
      why: 'a refused attempt that is signed again still counts as proof that nothing is out',
    },
    {
      id: 'attempt-insert-keeps-the-old-owner',
      text: `SET status = 'SIGNED', tx_id = excluded.tx_id, kind = excluded.kind, fencing`,
      becomes: `SET status = 'SIGNED', fencing`,
      why: 'what is mined with these bytes counts for another tx',
    },
    {
      id: 'attempt-about-to-send-also-mined',
      text: `t.tx_hash = a.tx_hash AND t.status = 'REJECTED'`,
      becomes: 't.tx_hash = a.tx_hash',
      why: 'what was decided is undecided again by a second send',
    },
    {
      id: 'attempt-about-to-send-nothing',
      text: `t.tx_hash = a.tx_hash AND t.status = 'REJECTED'`,
      becomes: `t.tx_hash = a.tx_hash AND t.status = 'UNKNOWN'`,
      why: 'a refused attempt is out again and counts as not sent (I6)',
    },
    {
      id: 'attempt-about-to-send-on-any-chain',
      text: 'WHERE t.chain_id = a.chain_id AND t.tx_hash = a.tx_hash',
      becomes: 'WHERE t.tx_hash = a.tx_hash',
      why: 'a send on one chain changes attempts of another',
    },
    {
      id: 'attempt-outcome-over-mined',
      text: `CASE WHEN t.status IN ('MINED', 'LOST') THEN t.status ELSE o.status END`,
      becomes: `CASE WHEN t.status IN ('LOST') THEN t.status ELSE o.status END`,
      why: 'a mined attempt that is answered as refused counts as never sent',
    },
    {
      id: 'attempt-outcome-over-lost',
      text: `CASE WHEN t.status IN ('MINED', 'LOST') THEN t.status ELSE o.status END`,
      becomes: `CASE WHEN t.status IN ('MINED') THEN t.status ELSE o.status END`,
      why: 'an attempt whose slot is decided competes again',
    },
    {
      id: 'attempt-outcome-without-time',
      text: 'last_sent_at = clock_timestamp(), fencing',
      becomes: 'last_sent_at = t.last_sent_at, fencing',
      why: 'nobody knows when an attempt was sent last',
    },
    {
      id: 'attempt-outcome-of-any-chain',
      text: 'WHERE t.chain_id = o.chain_id AND t.tx_hash = o.tx_hash',
      becomes: 'WHERE t.tx_hash = o.tx_hash',
      why: 'an answer of one chain is written to attempts of another',
    },
    {
      id: 'attempt-outcome-swaps-class-and-error',
      text: 'AS o (chain_id, tx_hash, status, error_class, error, token)',
      becomes: 'AS o (chain_id, tx_hash, status, error, error_class, token)',
      why: 'what the last send was answered with is decided on by its words',
    },
    {
      id: 'attempt-decide-leaves-the-others',
      text: `AND t.status <> CASE WHEN t.tx_hash = w.tx_hash THEN 'MINED' ELSE 'LOST' END`,
      becomes: `AND t.tx_hash = w.tx_hash AND t.status <> 'MINED'`,
      why: 'an attempt that can never be mined competes for ever',
    },
    {
      id: 'attempt-decide-foreign-leaves-all',
      text: `SET status = CASE WHEN t.tx_hash = w.tx_hash THEN 'MINED' ELSE 'LOST' END, fencing`,
      becomes: `SET status = CASE WHEN t.tx_hash <> w.tx_hash THEN 'LOST' ELSE 'MINED' END, fencing`,
      why: 'where none of ours was mined, all of them count as mined',
    },
    {
      id: 'attempt-decide-all-nonces',
      text: `${SLOT_OF_W}
       AND t.status`,
      becomes: `WHERE t.chain_id = w.chain_id AND t.signer = w.signer
       AND t.status`,
      why: 'everything a signer has in flight counts as lost',
    },
    {
      id: 'attempt-reopen-refused',
      text: `t.nonce = w.nonce AND t.status IN ('MINED', 'LOST')`,
      becomes: 't.nonce = w.nonce',
      why: 'what surely was never out is taken to be out',
    },
    {
      id: 'attempt-reopen-only-the-mined',
      text: `t.nonce = w.nonce AND t.status IN ('MINED', 'LOST')`,
      becomes: `t.nonce = w.nonce AND t.status IN ('MINED')`,
      why: 'a rival that the new branch mines is not looked for',
    },
    {
      id: 'attempt-reopen-of-any-chain',
      text: `${SLOT_OF_W} AND t.status IN`,
      becomes: 'WHERE t.signer = w.signer AND t.nonce = w.nonce AND t.status IN',
      why: 'a reorg of one chain opens attempts of another',
    },
    {
      id: 'attempt-of-slots-newest-first',
      text: 'ORDER BY t.created_at, t.tx_hash',
      becomes: 'ORDER BY t.created_at DESC, t.tx_hash',
      why: 'the oldest attempt is sent again instead of the newest',
    },
    {
      id: 'attempt-of-slots-in-no-order',
      text: 'ORDER BY t.created_at, t.tx_hash',
      becomes: 'ORDER BY t.created_at, t.tx_hash DESC',
      why: 'which of two attempts of one moment is the newest changes from look to look',
    },
    {
      id: 'attempt-of-slots-of-any-chain',
      text: 'ON t.chain_id = w.chain_id AND t.signer = w.signer AND t.nonce = w.nonce\n     ORDER BY',
      becomes: 'ON t.signer = w.signer AND t.nonce = w.nonce\n     ORDER BY',
      why: 'bytes of another chain are sent',
    },
    {
      id: 'attempt-by-hashes-of-any-chain',
      text: 'WHERE t.chain_id = $1 AND t.tx_hash = ANY($2::text[])`',
      becomes: 'WHERE $1 > 0 AND t.tx_hash = ANY($2::text[])`',
      why: 'a transaction of somebody else on one chain is taken for ours',
    },
    {
      id: 'attempt-consumed-with-txs',
      text: '${CONSUMED_COLUMNS} ${CONSUMED_FROM_BLOCK}\n     WHERE g.chain_id = $1 AND s.tx_id IS NULL`',
      becomes: '${CONSUMED_COLUMNS} ${CONSUMED_FROM_BLOCK}\n     WHERE g.chain_id = $1`',
      why: 'the slot of a confirmed payload is filled',
    },
    {
      id: 'attempt-consumed-of-any-chain',
      text: '${CONSUMED_COLUMNS} ${CONSUMED_FROM_BLOCK}\n     WHERE g.chain_id = $1 AND s.tx_id IS NULL`',
      becomes: '${CONSUMED_COLUMNS} ${CONSUMED_FROM_BLOCK}\n     WHERE $1 > 0 AND s.tx_id IS NULL`',
      why: 'a reorg of one chain opens slots of another',
    },
    {
      id: 'attempt-still-consumed-changed-since',
      text: 's.nonce = w.nonce AND s.updated_at = w.updated_at',
      becomes: 's.nonce = w.nonce AND s.updated_at >= w.updated_at',
      why: 'a slot that was seen to since is opened again',
    },
    {
      id: 'attempt-still-consumed-held',
      text: `WHERE s.status = 'CONSUMED' AND s.tx_id IS NULL\``,
      becomes: 'WHERE s.tx_id IS NULL`',
      why: 'a slot that is opened already is opened twice',
    },
    {
      id: 'attempt-still-consumed-by-a-tx',
      text: `WHERE s.status = 'CONSUMED' AND s.tx_id IS NULL\``,
      becomes: `WHERE s.status = 'CONSUMED'\``,
      why: 'the slot of a payload is filled',
    },
    {
      id: 'attempt-row-swaps-fees',
      text: 'attempts.map(({ fees }) => fees.maxFeePerGas),',
      becomes: 'attempts.map(({ fees }) => fees.maxPriorityFeePerGas),',
      why: 'a bump is computed from a price that was not sent',
    },
    {
      id: 'attempt-row-without-refusal',
      text: 'if (rowCount !== attempts.length)',
      becomes: 'if (rowCount === null)',
      why: 'an attempt that was not stored is sent',
    },
  ],
);
