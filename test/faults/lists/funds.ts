import { faultsIn, int } from '../fault.js';

/** What signers have to pay. */
export const FUNDS = faultsIn('modules/transactions/infrastructure/pg-funds.repository.ts', int('funds-repository'), [
  {
    id: 'funds-standing-without-sent',
    text: 'f.short OR (SELECT',
    becomes: '(SELECT',
    why: 'a sent tx that nodes refused for want of funds is resent only at the end of its back-off',
  },
  {
    id: 'funds-standing-of-any-chain',
    text: 'LEFT JOIN signer s ON s.chain_id = w.chain_id AND s.address = w.signer',
    becomes: 'LEFT JOIN signer s ON s.address = w.signer',
    why: 'a low balance on another chain is told here',
  },
  {
    id: 'funds-queued-without-estimates',
    text: `(t.options ->> 'gasLimit')::numeric, t.gas_limit,`,
    becomes: `(t.options ->> 'gasLimit')::numeric,`,
    why: 'what is missing is told too low',
  },
  {
    id: 'funds-queued-with-one-blob',
    text: `coalesce(jsonb_array_length(t.options -> 'blobHashes'), 0) AS blobs`,
    becomes: `(t.options ? 'blobHashes')::int AS blobs`,
    why: 'what is missing is told too low',
  },
  {
    id: 'funds-queued-without-blob-fees',
    text: `'maxFeePerBlobGas', t.options -> 'maxFeePerBlobGas'`,
    becomes: `'maxFeePerBlobGas', NULL`,
    why: 'blobs are counted at the market price although their client pays less, or more',
  },
  {
    id: 'funds-queued-without-limit',
    text: '-t.priority, t.tx_id LIMIT $3) q',
    becomes: '-t.priority, t.tx_id LIMIT $3 + 1) q',
    why: 'a long queue costs more than it may',
  },
  {
    id: 'funds-make-due-only-parked',
    text: `WHERE k.state IN ('ALLOCATED', 'IN_MEMPOOL') AND k.nonce`,
    becomes: `WHERE k.state IN ('ALLOCATED') AND k.nonce`,
    why: 'a sent tx that nodes refused for want of funds is resent only at the end of its back-off',
  },
  {
    id: 'funds-mark-low-again',
    text: ' AND (s.balance_low_at IS NOT NULL) <> $3::boolean',
    becomes: '',
    why: 'a low balance is told with every look',
  },
]);
