import type { SignerId } from '../../src/kernel/signer-id.js';
import type { Fence } from '../../src/modules/signers/domain/fence.js';
import type { Lease } from '../../src/modules/signers/domain/lease.js';
import { PgTx, type SqlValue } from '../../src/platform/database/pg-tx.js';
import { acquire, type FenceLab, type LabNode, type OpenTransaction } from './fence-lab.js';
import { holdOpen } from './fenced-writer.js';

/** What the lab protects: the nonce cursor of a signer, the row that no two nodes may ever move at once. */
export interface Cursor {
  readonly next: bigint;
  readonly token: bigint;
}

/** A signer held by `owner`, with a cursor at 0. */
export async function heldSigner(lab: FenceLab, owner: LabNode): Promise<Lease> {
  const lease = await acquire(owner, lab.freshSigner());
  await lab.observer.write(
    `INSERT INTO signer_nonce_cursor (chain_id, signer, next_nonce, fencing_token, last_synced_at)
     VALUES ($1, $2, 0, $3, clock_timestamp())`,
    [lease.signer.chainId, lease.signer.address, lease.token],
  );
  return lease;
}

/** What a new owner reads after its takeover, in a statement of its own. */
export async function readCursor(lab: FenceLab, signer: SignerId): Promise<Cursor> {
  const [row] = await lab.observer.run<{ next_nonce: string; fencing_token: string }>(
    `SELECT next_nonce, fencing_token FROM signer_nonce_cursor WHERE chain_id = $1 AND signer = $2`,
    [signer.chainId, signer.address],
  );
  if (!row) throw new Error('the signer has no cursor');
  return { next: BigInt(row.next_nonce), token: BigInt(row.fencing_token) };
}

/** The write as a repository makes it: no check of its own, the fence is in the signature. */
export async function moveCursor(fence: Fence, signer: SignerId): Promise<void> {
  const values = [signer.chainId, signer.address, fence.tokenFor(signer)];
  await PgTx.of(fence.tx).query({ name: 'lab_move_cursor', text: MOVE }, values);
}

/** The same as a whole fenced write. */
export function fencedMove(node: LabNode, lease: Lease): Promise<void> {
  return node.fenced.run([lease], 'lab', (fence) => moveCursor(fence, lease.signer));
}

/** A signer held by `owner`, and a fenced write to its cursor that is done and not yet committed. */
export async function uncommittedMove(
  lab: FenceLab,
  owner: LabNode,
): Promise<{ lease: Lease; writer: OpenTransaction }> {
  const lease = await heldSigner(lab, owner);
  return { lease, writer: await holdOpen(owner, [lease], (fence) => moveCursor(fence, lease.signer)) };
}

const MOVE = `
  UPDATE signer_nonce_cursor c SET next_nonce = c.next_nonce + 1, fencing_token = $3
   WHERE c.chain_id = $1 AND c.signer = $2`;

/** The same write, checked in the way of those who trust a WHERE. */
export const NAIVE_MOVE = naiveMove('');
export const NAIVE_MOVE_UNEXPIRED = naiveMove('AND l.expires_at > clock_timestamp()');
export const NAIVE_MOVE_ROW_TOKEN = `${NAIVE_MOVE} AND c.fencing_token <= $3`;
const SHARE_LOCK = `
  SELECT 1 FROM signer_lease l
   WHERE l.chain_id = $1 AND l.signer = $2 AND l.fencing_token = $3 AND l.owner_node = $4
     FOR SHARE`;

/** A transaction that locks the lease FOR SHARE: safe, but see what it does to the heartbeat. */
export async function shareLocked(lab: FenceLab, lease: Lease): Promise<OpenTransaction> {
  const session = await lab.session();
  await session.run('BEGIN');
  if ((await session.write(SHARE_LOCK, naiveValues(lease))) !== 1)
    throw new Error('the lease is not there to be locked');
  return { pid: session.pid, commit: () => session.run('COMMIT') };
}

function naiveMove(more: string): string {
  return `${MOVE} AND EXISTS (
    SELECT 1 FROM signer_lease l
     WHERE l.chain_id = $1 AND l.signer = $2 AND l.fencing_token = $3 AND l.owner_node = $4 ${more})`;
}

/** $1 to $4 of the shapes above. */
export function naiveValues(lease: Lease): SqlValue[] {
  return [lease.signer.chainId, lease.signer.address, lease.token, lease.owner];
}
