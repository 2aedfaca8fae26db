import { Injectable } from '@nestjs/common';
import { mayUse, type Viewer } from '../../../kernel/caller.js';
import { parseAddress, parseHash } from '../../../kernel/hex.js';
import type { Nonce, SignerId } from '../../../kernel/signer-id.js';
import { ReadDatabase } from '../../../platform/database/pools.js';
import type { Attempt, TxKind, TxState } from '../../ledger/index.js';
import {
  HIGHEST_NONCE,
  type SlotAttempt,
  type SlotFilter,
  SlotQueries,
  type SlotStatus,
  type SlotUse,
  type SlotView,
  type SlotViewer,
} from '../application/slot-queries.js';

/** The most slots that one page looks through for those of a status. */
const MOST_SCANNED = 1_000;
/** More than a slot can have, with bumps for years. */
const MOST_ATTEMPTS = 1_000;

const CURSOR = {
  name: 'ops_nonce_cursor',
  text: `
    SELECT (SELECT c.next_nonce FROM signer_nonce_cursor c WHERE c.chain_id = $1 AND c.signer = $2) AS next,
           (SELECT s.nonce FROM signer_nonce_allocation s WHERE s.chain_id = $1 AND s.signer = $2 AND s.nonce >= $3 ORDER BY s.nonce LIMIT 1) AS lowest`,
};

/** Ids, and hashes of what is not mined, of the viewer's account only; ids of holds for operators, too. The holder of a slot is a tx, or the grant of an authorization for one. */
const SLOTS = {
  name: 'ops_nonce_slots',
  text: `
    SELECT s.nonce, s.status, s.tx_hash AS used_by, s.updated_at, s.tx_id IS NULL AS is_unheld, g.grant_id IS NOT NULL AS is_authorization, t.kind, t.state, t.signer AS tx_signer,
           CASE WHEN t.account_id = $3 OR t.kind = 'hold' AND $6 THEN t.tx_id END AS tx_id, CASE WHEN t.account_id = $3 AND g.grant_id IS NULL THEN t.tx_hash END AS newest_hash,
           t.receipt ->> 'txHash' AS mined_hash, t.block_number, t.block_hash,
           s.status = 'RELEASED' AND EXISTS (SELECT FROM signer_nonce_allocation h
             WHERE h.chain_id = s.chain_id AND h.signer = s.signer AND h.nonce > s.nonce AND h.status = 'HELD') AS is_gap
      FROM (SELECT * FROM signer_nonce_allocation a WHERE a.chain_id = $1 AND a.signer = $2 AND a.nonce < $4 ORDER BY a.nonce DESC LIMIT $5) s
      LEFT JOIN tx_authorization g ON g.grant_id = s.tx_id
      LEFT JOIN managed_tx t ON t.tx_id = coalesce(g.tx_id, s.tx_id)
     ORDER BY s.nonce DESC`,
};

const ATTEMPTS = {
  name: 'ops_nonce_attempts',
  text: `
    SELECT a.tx_hash, a.tx_id, a.kind, a.status, a.created_at, a.last_sent_at
      FROM tx_attempt a JOIN managed_tx t ON t.tx_id = a.tx_id
     WHERE a.signer = $2 AND a.nonce = $3 AND a.chain_id = $1 AND t.account_id = $4
     ORDER BY a.created_at, a.tx_hash LIMIT ${MOST_ATTEMPTS}`,
};

interface SlotRow {
  nonce: string;
  status: SlotStatus;
  used_by: string | null;
  updated_at: Date;
  is_unheld: boolean;
  is_authorization: boolean;
  is_gap: boolean;
  kind: TxKind | null;
  state: TxState | null;
  tx_signer: string | null;
  tx_id: string | null;
  newest_hash: string | null;
  mined_hash: string | null;
  block_number: string | null;
  block_hash: string | null;
}

interface AttemptRow {
  tx_hash: string;
  tx_id: string;
  kind: Attempt['kind'];
  status: Attempt['status'];
  created_at: Date;
  last_sent_at: Date | null;
}

@Injectable()
export class PgSlotQueries extends SlotQueries {
  constructor(private readonly database: ReadDatabase) {
    super();
  }

  async cursor(
    { chainId, address }: SignerId,
    floor: Nonce,
  ): Promise<{ readonly next: Nonce | null; readonly lowest: Nonce | null }> {
    const values = [chainId, address, floor];
    const { rows } = await this.database.query<{ next: string | null; lowest: string | null }>(CURSOR, values);
    return { next: nonceOrNull(rows[0]?.next), lowest: nonceOrNull(rows[0]?.lowest) };
  }

  async list(
    signer: SignerId,
    { status, below = HIGHEST_NONCE, limit }: SlotFilter,
    viewer: SlotViewer,
  ): Promise<{ readonly items: readonly SlotView[]; readonly nextBelow: Nonce | null }> {
    const most = status === undefined ? limit + 1 : MOST_SCANNED;
    const scanned = await this.slots(signer, viewer, below, most);
    const found = scanned.filter((slot) => (status ?? slot.status) === slot.status);
    const items = found.slice(0, limit);
    if (found.length > limit) return { items, nextBelow: items.at(-1)?.nonce ?? null };
    return { items, nextBelow: scanned.length === most ? (scanned.at(-1)?.nonce ?? null) : null };
  }

  async find(signer: SignerId, nonce: Nonce, viewer: SlotViewer): Promise<SlotView | null> {
    const [slot] = await this.slots(signer, viewer, nonce + 1n, 1);
    return slot?.nonce === nonce ? slot : null;
  }

  async attempts({ chainId, address }: SignerId, nonce: Nonce, { account }: Viewer): Promise<SlotAttempt[]> {
    const { rows } = await this.database.query<AttemptRow>(ATTEMPTS, [chainId, address, nonce, account]);
    return rows.map((row) => ({
      txHash: row.tx_hash,
      txId: row.tx_id,
      kind: row.kind,
      status: row.status,
      createdAt: row.created_at,
      lastSentAt: row.last_sent_at,
    }));
  }

  private async slots(
    { chainId, address }: SignerId,
    viewer: SlotViewer,
    below: Nonce,
    most: number,
  ): Promise<SlotView[]> {
    const mayClose = viewer.scopes.includes('signers:admin');
    const values = [chainId, address, viewer.account, below, most, mayClose];
    const { rows } = await this.database.query<SlotRow>(SLOTS, values);
    // A nonce may be signed away for a tx of another signer, of the same chain.
    const mayName = (signer: string): boolean => mayUse(viewer, { chainId, address: parseAddress(signer) });
    return rows.map((row) => {
      const view = toView(row);
      return row.tx_signer === null || mayName(row.tx_signer) ? view : { ...view, txId: null };
    });
  }
}

function toView(row: SlotRow): SlotView {
  const { status, state, mined_hash: mined, block_hash: hash, block_number: number } = row;
  const isMined = !row.is_authorization && mined !== null && hash !== null && number !== null;
  return {
    nonce: BigInt(row.nonce),
    status,
    use: useOf(row),
    txId: row.tx_id,
    state,
    txHash: row.used_by ?? (isMined ? mined : row.newest_hash),
    since: row.updated_at,
    onChain: isMined ? { txHash: parseHash(mined), block: { number: Number(number), hash: parseHash(hash) } } : null,
  };
}

function useOf({ status, is_gap: isGap, is_unheld: isUnheld, is_authorization: authorizes, kind }: SlotRow): SlotUse {
  if (status === 'RELEASED') return isGap ? 'gap' : 'free';
  if (isUnheld) return 'foreign';
  return authorizes ? 'authorization' : (kind ?? 'payload');
}

function nonceOrNull(text: string | null | undefined): Nonce | null {
  return text === null || text === undefined ? null : BigInt(text);
}
