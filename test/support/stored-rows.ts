import { beforeEach } from '@jest/globals';
import type { SignerId } from '../../src/kernel/signer-id.js';
import type { SqlValue } from '../../src/platform/database/pg-tx.js';
import type { Fence } from '../../src/modules/signers/domain/fence.js';
import { aHash, aSigner, DEV_CHAIN } from './builders.js';
import { type FenceLab, type LabNode, TERMS, twoNodeLab } from './fence-lab.js';

type Row = Readonly<Record<string, string | number | boolean | null>>;

/** Ids that are easy to tell apart, and sort by their number. */
export function txIdOf(n: number): string {
  return `01900000-0000-7000-8000-${n.toString().padStart(12, '0')}`;
}

/** Rows as a test wants them, for what one statement reads or changes. Each test of the file begins with empty tables. */
export async function storedRows(): Promise<StoredRows> {
  const { lab, first } = await twoNodeLab();
  const rows = new StoredRows(lab, first);
  beforeEach(() => rows.clear());
  return rows;
}

export class StoredRows {
  constructor(
    readonly lab: FenceLab,
    readonly node: LabNode,
  ) {}

  async clear(): Promise<void> {
    const tables = await this.lab.observer.run<{ name: string }>(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'migrations'`,
    );
    await this.lab.observer.run(tables.map(({ name }) => `DELETE FROM ${name}`).join(';'));
  }

  /** Times are given as text, such as `now() - interval '1 minute'`, in columns whose names end in `_at`. */
  async put(table: string, row: Row): Promise<void> {
    const columns = Object.entries(row).filter(([, value]) => value !== null);
    const given: SqlValue[] = [];
    const values = columns.map(([name, value]) => (name.endsWith('_at') ? value : `$${given.push(value)}`));
    await this.lab.observer.run(
      `INSERT INTO ${table} (${columns.map(([name]) => name).join()}) VALUES (${values.join()})`,
      given,
    );
  }

  /** @returns the id of a tx with what its state needs: a nonce of its number, a receipt in a block of its number */
  async putTx(n: number, overrides: Row = {}): Promise<string> {
    const { state = 'PENDING' } = overrides;
    const isMined = state === 'MINED' || state === 'CONFIRMED' || state === 'FAILED';
    await this.put('managed_tx', {
      tx_id: txIdOf(n),
      chain_id: DEV_CHAIN,
      signer: aSigner().address,
      request_id: `request-${n}`,
      request_hash: aHash(n),
      value: n,
      data: '\\x',
      options: '{"speed":"standard"}',
      priority: 0,
      state,
      nonce: state === 'PENDING' ? null : n,
      tx_hash: state === 'PENDING' ? null : aHash(n),
      receipt: isMined ? receiptOf(n) : null,
      block_number: isMined ? n : null,
      block_hash: isMined ? aHash(n) : null,
      failure_reason: state === 'FAILED' ? 'reverted' : null,
      ...overrides,
    });
    return txIdOf(n);
  }

  async putSlot(nonce: number, status: string, overrides: Row = {}): Promise<void> {
    const signer = aSigner();
    const key = { chain_id: signer.chainId, signer: signer.address, nonce };
    await this.put('signer_nonce_allocation', { ...key, status, fencing_token: 1, ...overrides });
  }

  async putCursor(nonce: number, { chainId, address }: SignerId = aSigner(), at = 'now()'): Promise<void> {
    const row = { chain_id: chainId, signer: address, next_nonce: nonce, fencing_token: 1, last_synced_at: at };
    await this.put('signer_nonce_cursor', row);
  }

  async putLease(overrides: Row = {}): Promise<void> {
    await this.put('signer_lease', {
      chain_id: DEV_CHAIN,
      signer: aSigner().address,
      owner_node: 'first',
      fencing_token: 1,
      acquired_at: 'now()',
      updated_at: 'now()',
      expires_at: `now() + interval '1 hour'`,
      ...overrides,
    });
  }

  /** Runs under fresh leases of the signers. */
  async fenced<T>(signers: readonly SignerId[], work: (fence: Fence) => Promise<T>): Promise<T> {
    const leases = await this.node.leases.acquire(this.node.id, signers, TERMS);
    return this.node.fenced.run(leases, 'test', work);
  }

  read<T extends object>(sql: string): Promise<T[]> {
    return this.lab.observer.run<T>(sql);
  }
}

function receiptOf(n: number): string {
  return JSON.stringify({
    txHash: aHash(n),
    blockNumber: n,
    blockHash: aHash(n),
    transactionIndex: 0,
    status: 'success',
    gasUsed: '21000',
    effectiveGasPrice: '1',
    contractAddress: null,
  });
}
