import { faultsIn, int } from '../fault.js';

/** What must be known before a lane goes on in a database that may have lost commits. */
export const LOST_COMMITS = faultsIn(
  'modules/lost-commits/infrastructure/pg-lost-commits.repository.ts',
  int('lost-commits-repository'),
  [
    {
      id: 'lost-outlook-first-lease-counts',
      text: 'l.fencing_token > 1 FROM',
      becomes: 'l.fencing_token >= 1 FROM',
      why: 'what somebody else sent with our key before is taken for ours',
    },
    {
      id: 'lost-outlook-acted-only-by-lease',
      text: `
             OR EXISTS (SELECT FROM signer_nonce_cursor c WHERE c.chain_id = w.chain_id AND c.signer = w.signer) AS acted`,
      becomes: ' AS acted',
      why: 'what was sent under a lease that was lost is not looked for',
    },
    {
      id: 'lost-outlook-never-suspect',
      text: '             < coalesce((SELECT e.epoch FROM database_epoch e ORDER BY e.epoch DESC LIMIT 1), 1) AS suspect',
      becomes: '             < coalesce((SELECT e.epoch FROM database_epoch e ORDER BY e.epoch LIMIT 1), 1) AS suspect',
      why: 'after a second failover nobody is reconciled',
    },
    {
      id: 'lost-outlook-always-suspect',
      text: '             < coalesce((SELECT e.epoch',
      becomes: '             <= coalesce((SELECT e.epoch',
      why: 'every lane reconciles before every lease, for ever',
    },
    {
      id: 'lost-outlook-signed-too',
      text: `a.chain_id = t.chain_id AND a.tx_id = t.tx_id)
                  ORDER BY t.nonce) AS unsigned_nonces`,
      becomes: `a.chain_id = t.chain_id)
                  ORDER BY t.nonce) AS unsigned_nonces`,
      why: 'a no-op of another tx counts as bytes of this one',
    },
    {
      id: 'lost-outlook-txs-in-another-order',
      text: 'ORDER BY t.nonce) AS unsigned_txs',
      becomes: 'ORDER BY t.tx_id) AS unsigned_txs',
      why: 'bytes that are found are given to the wrong tx',
    },
    {
      id: 'lost-outlook-in-mempool-too',
      text: `t.nonce >= 0 AND t.state = 'ALLOCATED'
                    AND NOT EXISTS (SELECT FROM tx_attempt a
                                     WHERE a.signer = t.signer AND a.nonce = t.nonce AND a.chain_id = t.chain_id AND a.tx_id = t.tx_id)
                  ORDER BY t.nonce) AS unsigned_nonces`,
      becomes: `t.nonce >= 0 AND t.state IN ('ALLOCATED', 'IN_MEMPOOL')
                    AND NOT EXISTS (SELECT FROM tx_attempt a
                                     WHERE a.signer = t.signer AND a.nonce = t.nonce AND a.chain_id = t.chain_id AND a.tx_id = t.tx_id)
                  ORDER BY t.nonce) AS unsigned_nonces`,
      why: 'the nonces that are open do not fit the txs that are told with them',
    },
    {
      id: 'lost-outlook-held-too',
      text: `s.status = 'RELEASED' ORDER BY s.nonce) AS released`,
      becomes: `s.status <> 'CONSUMED' ORDER BY s.nonce) AS released`,
      why: 'a slot that is in flight counts as free',
    },
    {
      id: 'lost-outlook-in-any-order',
      text: 'AS w (chain_id, signer, position) ORDER BY w.position',
      becomes: 'AS w (chain_id, signer, position) ORDER BY w.signer',
      why: 'the outlook of one signer is given to another',
    },
    {
      id: 'lost-waiting-since-least',
      text: 'extract(epoch FROM greatest(',
      becomes: 'extract(epoch FROM least(',
      why: 'the search goes back to before what can be out',
    },
    {
      id: 'lost-waiting-since-newest',
      text: `SELECT min(t.created_at) FROM managed_tx t WHERE t.chain_id = $1 AND t.signer = $2 AND t.state = 'PENDING'`,
      becomes: `SELECT max(t.created_at) FROM managed_tx t WHERE t.chain_id = $1 AND t.signer = $2 AND t.state = 'PENDING'`,
      why: 'what was sent for an older tx is not looked for, and its payload is sent again',
    },
    {
      id: 'lost-waiting-since-only-pending',
      text: `t.nonce >= 0 AND t.state = 'ALLOCATED')) AS since`,
      becomes: `t.nonce < 0 AND t.state = 'ALLOCATED')) AS since`,
      why: 'what was sent for an allocated tx is not looked for',
    },
    {
      id: 'lost-waiting-since-nothing-waits',
      text: `
     WHERE waiting.since IS NOT NULL`,
      becomes: '',
      why: 'the chain is searched although nothing waits',
    },
    {
      id: 'lost-waiting-for-any-value',
      text: ' AND t.value = p.value AND t.data',
      becomes: ' AND t.data',
      why: 'a tx with another value is taken for sent, and never executed',
    },
    {
      id: 'lost-waiting-for-any-data',
      text: ` AND t.data = decode(substr(p.data, 3), 'hex'))`,
      becomes: ')',
      why: 'a tx with another call is taken for sent, and never executed',
    },
    {
      id: 'lost-waiting-for-no-creation',
      text: 't.to_address IS NOT DISTINCT FROM p.to_address',
      becomes: 't.to_address = p.to_address',
      why: 'a creation that is out is sent again',
    },
    {
      id: 'lost-waiting-for-allocated',
      text: `t.signer = $2 AND t.state = 'PENDING'
       AND EXISTS`,
      becomes: `t.signer = $2 AND t.state IN ('PENDING', 'ALLOCATED')
       AND EXISTS`,
      why: 'bytes that are found are given to a tx that has others',
    },
    {
      id: 'lost-waiting-for-newest-first',
      text: 'ORDER BY t.created_at, t.tx_id LIMIT',
      becomes: 'ORDER BY t.created_at DESC, t.tx_id LIMIT',
      why: 'of equal payloads the newest is taken for sent',
    },
    {
      id: 'lost-reconciled-in-the-first-epoch',
      text: 'SELECT w.chain_id, w.signer, coalesce((SELECT e.epoch FROM database_epoch e ORDER BY e.epoch DESC LIMIT 1), 1)',
      becomes:
        'SELECT w.chain_id, w.signer, coalesce((SELECT e.epoch FROM database_epoch e ORDER BY e.epoch LIMIT 1), 1)',
      why: 'a signer is never reconciled after a second failover',
    },
    {
      id: 'lost-reconciled-once-only',
      text: 'SET epoch = excluded.epoch, fencing_token',
      becomes: 'SET fencing_token',
      why: 'a signer that was reconciled once stays suspect after the next failover',
    },
  ],
);
