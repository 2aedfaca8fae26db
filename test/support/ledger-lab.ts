import { type SignerId, signerKey } from '../../src/kernel/signer-id.js';
import type { Fence } from '../../src/modules/signers/domain/fence.js';
import { Custody } from '../../src/modules/signers/domain/custody.js';
import type { Lease } from '../../src/modules/signers/domain/lease.js';
import { PgNonceLedger } from '../../src/modules/signers/infrastructure/pg-nonce-ledger.js';
import { aHash } from './builders.js';
import { fakeOf } from './fakes/fake-of.js';
import { acquire, handOver, type LabNode, twoNodeLab } from './fence-lab.js';

/** As the table spells it. */
type SlotStatus = 'HELD' | 'CONSUMED' | 'RELEASED';

export const MINED_HASH = aHash(0xfeed);
/** Of every row that a test sets up; no lease has it, so that a write shows by its own. */
const OLD_TOKEN = 0;

export interface Slot {
  readonly nonce: bigint;
  readonly status: SlotStatus;
  readonly txId: string | null;
  readonly txHash: string | null;
  readonly token: bigint;
}

interface SlotRow {
  nonce: string;
  status: SlotStatus;
  tx_id: string | null;
  tx_hash: string | null;
  fencing_token: string;
}

export function txIdOf(n: number | bigint): string {
  return `019aa2f4-7a1c-7c3e-9a52-${n.toString(16).padStart(12, '0')}`;
}

/** The nonce ledger of the product on a fresh database, under leases of a node that has them with token 3. */
export async function ledgerLab(): Promise<LedgerLab> {
  const { lab, first, second } = await twoNodeLab();
  return new LedgerLab(lab, first, second);
}

class LedgerLab {
  readonly ledger: PgNonceLedger;
  /** Keys of signers whose keys outside senders have. */
  readonly external = new Set<string>();
  private holders = 0;

  constructor(
    readonly lab: Awaited<ReturnType<typeof twoNodeLab>>['lab'],
    readonly first: LabNode,
    private readonly second: LabNode,
  ) {
    this.ledger = new PgNonceLedger(
      first.database,
      fakeOf(Custody, { isExternal: (signer) => this.external.has(signerKey(signer)) }),
    );
  }

  async lease(signer = this.lab.freshSigner()): Promise<Lease> {
    const before = await acquire(this.first, signer);
    return handOver(this.second, await handOver(this.first, before, this.second), this.first);
  }

  write<T>(leases: readonly Lease[], work: (fence: Fence) => Promise<T>): Promise<T> {
    return this.first.fenced.run(leases, 'ledger', work);
  }

  /** As an earlier owner left them: a HELD or CONSUMED slot has a transaction of its own. */
  async leave(signer: SignerId, status: SlotStatus, ...nonces: readonly bigint[]): Promise<void> {
    for (const nonce of nonces) {
      const txId = status === 'RELEASED' ? null : txIdOf(0xf000 + ++this.holders);
      await this.put(signer, { nonce, status, txId, txHash: status === 'CONSUMED' ? MINED_HASH : null });
    }
  }

  /** A foreign transaction has CONSUMED; a slot that is RELEASED has no tx in any case. */
  async leaveWithoutTx(signer: SignerId, status: SlotStatus, ...nonces: readonly bigint[]): Promise<void> {
    for (const nonce of nonces) await this.put(signer, { nonce, status, txId: null, txHash: null });
  }

  /** Nonces that outside senders gave back. */
  async leaveOutside(signer: SignerId, ...nonces: readonly bigint[]): Promise<void> {
    await this.leave(signer, 'RELEASED', ...nonces);
    await this.lab.observer.write(
      'UPDATE signer_nonce_allocation SET outside = true WHERE chain_id = $1 AND signer = $2 AND nonce = ANY($3)',
      [signer.chainId, signer.address, nonces],
    );
  }

  private async put(signer: SignerId, { nonce, status, txId, txHash }: Omit<Slot, 'token'>): Promise<void> {
    await this.lab.observer.write(
      `INSERT INTO signer_nonce_allocation (chain_id, signer, nonce, status, tx_id, tx_hash, fencing_token)
       VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      [signer.chainId, signer.address, nonce, status, txId, txHash, OLD_TOKEN],
    );
  }

  async leaveCursor(signer: SignerId, next: bigint): Promise<void> {
    await this.lab.observer.write(
      `INSERT INTO signer_nonce_cursor (chain_id, signer, next_nonce, fencing_token, last_synced_at)
       VALUES ($1, $2, $3, $4, '2020-01-01')`,
      [signer.chainId, signer.address, next, OLD_TOKEN],
    );
  }

  /** A tx of the signer with this nonce, of which nothing else matters. */
  async leaveTx(signer: SignerId, nonce: bigint, state: 'MINED' | 'IN_MEMPOOL'): Promise<void> {
    const block = state === 'MINED';
    await this.lab.observer.write(
      `INSERT INTO managed_tx (tx_id, chain_id, signer, request_id, request_hash, value, data, options, priority, state, nonce, gas_limit, tx_hash, receipt, block_number, block_hash)
       VALUES ($1::uuid, $2, $3, $1::text, $4, 0, '', '{}', 0, $5, $6, 21000, $4, $7, $8, $9)`,
      [
        txIdOf(0xe000 + ++this.holders),
        signer.chainId,
        signer.address,
        MINED_HASH,
        state,
        nonce,
        ...(block ? ['{}', 1, MINED_HASH] : [null, null, null]),
      ],
    );
  }

  /** What is noted of its lowest nonce gap. */
  async gap(signer: SignerId): Promise<{ gap: bigint | null; isTimed: boolean; token: bigint } | null> {
    const [row] = await this.lab.observer.run<{ gap: string | null; gap_since: Date | null; fencing_token: string }>(
      'SELECT gap, gap_since, fencing_token FROM signer_nonce_cursor WHERE chain_id = $1 AND signer = $2',
      [signer.chainId, signer.address],
    );
    if (!row) return null;
    const { gap, gap_since: since, fencing_token: token } = row;
    return { gap: gap === null ? null : BigInt(gap), isTimed: since !== null, token: BigInt(token) };
  }

  async slots(signer: SignerId): Promise<Slot[]> {
    const rows = await this.lab.observer.run<SlotRow>(
      'SELECT * FROM signer_nonce_allocation WHERE chain_id = $1 AND signer = $2 ORDER BY nonce',
      [signer.chainId, signer.address],
    );
    return rows.map((row) => ({
      nonce: BigInt(row.nonce),
      status: row.status,
      txId: row.tx_id,
      txHash: row.tx_hash,
      token: BigInt(row.fencing_token),
    }));
  }

  /** `nonce status` of each slot, in short. */
  async statuses(signer: SignerId): Promise<string[]> {
    return (await this.slots(signer)).map(({ nonce, status }) => `${nonce} ${status}`);
  }

  async cursor(signer: SignerId): Promise<{ next: bigint; token: bigint; isSynced: boolean } | null> {
    const [row] = await this.lab.observer.run<{ next_nonce: string; fencing_token: string; synced: boolean }>(
      `SELECT next_nonce, fencing_token, last_synced_at > '2020-01-01' AS synced
         FROM signer_nonce_cursor WHERE chain_id = $1 AND signer = $2`,
      [signer.chainId, signer.address],
    );
    return row ? { next: BigInt(row.next_nonce), token: BigInt(row.fencing_token), isSynced: row.synced } : null;
  }
}
