import { faultsIn, int } from '../fault.js';

/** What travels beside blob transactions. */
export const BLOBS = faultsIn('modules/transactions/infrastructure/pg-blob.repository.ts', int('blob-rows'), [
  {
    id: 'blob-insert-proofs-swapped',
    text: `decode(b.commitment, 'hex'), decode(b.blob_proof, 'hex')`,
    becomes: `decode(b.blob_proof, 'hex'), decode(b.commitment, 'hex')`,
    why: 'no node takes the blobs',
  },
  {
    id: 'blob-delete-of-all',
    text: '`DELETE FROM tx_blob WHERE tx_id = $1`',
    becomes: '`DELETE FROM tx_blob WHERE $1::uuid IS NOT NULL`',
    why: 'what is in flight can never be sent again after a client edits another tx',
    caughtBy: int('command-rows'),
  },
  {
    id: 'blob-of-txs-in-any-order',
    text: 'ORDER BY tx_id, position`',
    becomes: 'ORDER BY tx_id, position DESC`',
    why: 'the blobs do not match the hashes in the transaction',
  },
  {
    id: 'blob-prune-live',
    text: `t.state IN ('CONFIRMED', 'FAILED', 'CANCELLED', 'REPLACED', 'DROPPED') AND `,
    becomes: '',
    why: 'a blob transaction that waits for an hour can never be sent again',
  },
  {
    id: 'blob-prune-at-once',
    text: ` AND t.updated_at < clock_timestamp() - interval '1 hour'`,
    becomes: '',
    why: 'a reorg deeper than finality finds no blobs to send',
  },
  {
    id: 'blob-prune-everything',
    text: '       LIMIT $1) old',
    becomes: '       ) old',
    why: 'one statement deletes gigabytes',
  },
]);
