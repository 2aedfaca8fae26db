import { aHash, anAddress, DEV_CHAIN } from './builders.js';

/** A row as an older version wrote it. */
export interface OldRow {
  readonly table: string;
  readonly values: Readonly<Record<string, unknown>>;
  /** The migration without which it could not be written; any schema takes it when this is left out. */
  readonly since?: string;
}

const SIGNER = anAddress(1);
const AT = '2025-01-01T00:00:00Z';
const OF_SIGNER = { chain_id: DEV_CHAIN, signer: SIGNER };
const WRITTEN = { fencing_token: 3, created_at: AT };

const id = (n: number): string => `01900000-0000-7000-8000-${String(n).padStart(12, '0')}`;

function tx(n: number, state: string, more: Readonly<Record<string, unknown>> = {}): OldRow['values'] {
  return {
    ...OF_SIGNER,
    tx_id: id(n),
    request_id: `request-${n}`,
    request_hash: aHash(n),
    to_address: anAddress(2),
    value: '340282366920938463463374607431768211456',
    data: Buffer.from([n]),
    options: '{}',
    priority: n,
    state,
    created_at: AT,
    updated_at: AT,
    ...more,
  };
}

const inBlock = { receipt: '{"status":1}', block_number: 7, block_hash: aHash(70) };
const slot = (nonce: number, status: string, more: object = {}): OldRow['values'] => ({
  ...OF_SIGNER,
  ...WRITTEN,
  nonce,
  status,
  updated_at: AT,
  ...more,
});
const attempt = (n: number, nonce: number, kind: string, status: string): OldRow['values'] => ({
  ...OF_SIGNER,
  ...WRITTEN,
  tx_hash: aHash(100 + n),
  nonce,
  tx_id: kind === 'fill' ? null : id(n),
  kind,
  raw: Buffer.from([2, n]),
  gas_limit: 21_000,
  max_fee_per_gas: 2,
  max_priority_fee_per_gas: 1,
  status,
});

const MANAGED: readonly OldRow[] = [
  tx(1, 'PENDING'),
  tx(2, 'PENDING', { sub_state: 'INSUFFICIENT_FUNDS', next_resubmit_at: AT }),
  tx(3, 'ALLOCATED', { nonce: 4 }),
  tx(4, 'IN_MEMPOOL', { nonce: 3, tx_hash: aHash(104), next_resubmit_at: AT, next_receipt_check_at: AT }),
  tx(5, 'MINED', { nonce: 2, tx_hash: aHash(105), ...inBlock }),
  tx(6, 'CONFIRMED', { nonce: 0, tx_hash: aHash(106), confirmed_at: AT, ...inBlock }),
  tx(7, 'FAILED', { failure_reason: 'execution reverted' }),
].map((values) => ({ table: 'managed_tx', values }));

const SLOTS: readonly OldRow[] = [
  slot(0, 'CONSUMED', { tx_id: id(6), tx_hash: aHash(106) }),
  slot(1, 'HELD'),
  slot(2, 'HELD', { tx_id: id(5) }),
  slot(5, 'RELEASED'),
].map((values) => ({ table: 'signer_nonce_allocation', values }));

const ATTEMPTS: readonly OldRow[] = [
  attempt(1, 1, 'fill', 'UNKNOWN'),
  attempt(4, 3, 'payload', 'ACCEPTED'),
  attempt(5, 2, 'payload', 'MINED'),
  attempt(7, 5, 'payload', 'REJECTED'),
].map((values) => ({ table: 'tx_attempt', values }));

/** Of each table at least one, and of each state that rules of a schema tell apart. */
export const OLD_ROWS: readonly OldRow[] = [
  { table: 'signer', values: { chain_id: DEV_CHAIN, address: SIGNER, custody: '{"type":"mnemonic"}', created_at: AT } },
  {
    table: 'signer_lease',
    values: { ...OF_SIGNER, owner_node: 'a', fencing_token: 3, acquired_at: AT, expires_at: AT, updated_at: AT },
  },
  { table: 'signer_nonce_cursor', values: { ...OF_SIGNER, next_nonce: 6, fencing_token: 3, last_synced_at: AT } },
  ...MANAGED,
  ...SLOTS,
  ...ATTEMPTS,
  {
    table: 'chain_block',
    values: {
      chain_id: DEV_CHAIN,
      number: 7,
      hash: aHash(70),
      parent_hash: aHash(69),
      timestamp: 1_700_000_000,
      canonical: true,
    },
  },
  {
    table: 'tx_event',
    values: { chain_id: DEV_CHAIN, tx_id: id(1), reason: 'queued', to_state: 'PENDING', node_id: 'a', created_at: AT },
  },
  {
    table: 'node',
    since: '1763712000001-node',
    values: { node_id: 'a', acts: true, started_at: AT, last_seen_at: AT },
  },
  {
    table: 'managed_tx',
    since: '1763712000004-own-confirmations',
    values: tx(8, 'MINED', { nonce: 6, tx_hash: aHash(108), confirmations: 4, ...inBlock }),
  },
  {
    table: 'signer_nonce_allocation',
    since: '1763712000005-foreign-slots',
    values: slot(7, 'CONSUMED'),
  },
  {
    table: 'node_key_set',
    since: '1763712000006-scale',
    values: { key_set: 'digest', signers: [SIGNER], announced_at: AT },
  },
  {
    table: 'chain_activity',
    since: '1763712000006-scale',
    values: { chain_id: DEV_CHAIN, last_work_at: AT },
  },
  {
    table: 'database_epoch',
    since: '1763712000008-database-epoch',
    values: { epoch: 1, evidence: 'first', node_id: 'a', started_at: AT },
  },
  {
    table: 'signer_reconciliation',
    since: '1763712000008-database-epoch',
    values: { ...OF_SIGNER, epoch: 1, fencing_token: 3, reconciled_at: AT },
  },
  {
    table: 'managed_tx',
    since: '1763712000009-retries',
    values: tx(9, 'PENDING', { sub_state: 'NODE_REFUSED', tries: 2, last_error: 'no' }),
  },
  {
    table: 'tx_blob',
    since: '1763712000021-blobs',
    values: {
      tx_id: id(9),
      position: 0,
      blob: '\\x01',
      commitment: `\\x${'03'.repeat(48)}`,
      blob_proof: `\\x${'05'.repeat(48)}`,
      cell_proofs: `\\x${'07'.repeat(6144)}`,
    },
  },
  {
    table: 'tx_authorization',
    since: '1763712000027-authorizations',
    values: {
      grant_id: id(60),
      tx_id: id(9),
      chain_id: OF_SIGNER.chain_id,
      authority: OF_SIGNER.signer,
      nonce: '7',
      granted_at: AT,
      tries: 1,
      due_at: AT,
      created_at: AT,
    },
  },
  {
    table: 'tx_command',
    since: '1763712000019-getting-mined',
    values: {
      ...OF_SIGNER,
      command_id: id(50),
      tx_id: id(9),
      kind: 'cancel',
      request_id: 'cancel-9',
      request_hash: aHash(50),
      status: 'QUEUED',
      created_at: AT,
    },
  },
  {
    table: 'event_reader',
    since: '1763712000028-events',
    values: { name: 'webhooks', xid: '700', seq: '12', updated_at: AT },
  },
  {
    table: 'webhook_endpoint',
    since: '1763712000028-events',
    values: { endpoint_id: id(70), url: 'https://example.org', secret: 'whsec_AAAA', created_at: AT, updated_at: AT },
  },
  {
    table: 'webhook_delivery',
    since: '1763712000028-events',
    values: {
      endpoint_id: id(70),
      xid: '700',
      seq: '12',
      part: 0,
      tx_id: id(9),
      type: 'tx.accepted',
      body: '{}',
      event_at: AT,
      give_up_at: AT,
      due_at: AT,
      created_at: AT,
    },
  },
];
