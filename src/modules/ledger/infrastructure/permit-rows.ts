import type { PgTx } from '../../../platform/database/pg-tx.js';
import type { NewTx } from '../domain/tx-intake.js';
import type { TxRequest } from '../domain/tx-request.js';
import { FINAL_STATES } from './managed-tx.rows.js';
import { isSuspect, NEWEST_EPOCH } from './pg-lost-commits.repository.js';

const INSERT = {
  name: 'permit_insert',
  text: `
    INSERT INTO permit_nonce (tx_id, position, chain_id, contract, owner, sender)
    SELECT * FROM unnest($1::uuid[], $2::smallint[], $3::bigint[], $4::text[], $5::text[], $6::text[])`,
};

/** The last block says that what has permit `o` of tx `u` was mined with its payload, or it is final: then the contract tells what it did. */
export const WAS_MINED = `(u.state = 'MINED' AND u.closing IS NULL OR u.state IN ${FINAL_STATES})`;

/** What was stored later was not lost when the newest epoch began. The clocks of two servers may differ by minutes. */
const MAY_BE_OF_BEFORE = `c.created_at < (SELECT e.started_at FROM database_epoch e ORDER BY e.epoch DESC LIMIT 1) + interval '10 minutes'`;

/**
 * Whether a permit may be out of which nobody here knows the nonce: its tx is not final, or what its sender has sent was not looked for since the database
 * lost commits. Jumps from sender to sender.
 * @param g has `chain_id`
 */
export function mayBeLost(g: string, owner: string, contract: string): string {
  const isWanted = `c.chain_id = ${g}.chain_id AND c.owner = ${owner} AND c.contract = ${contract} AND c.status = 'WANTED'`;
  return `(
    EXISTS (SELECT FROM permit_nonce o JOIN managed_tx u ON u.tx_id = o.tx_id
             WHERE o.chain_id = ${g}.chain_id AND o.owner = ${owner} AND o.contract = ${contract} AND o.status = 'LOST' AND u.state IN ('ALLOCATED', 'IN_MEMPOOL', 'MINED'))
    OR ${NEWEST_EPOCH} > 1 AND EXISTS (
      WITH RECURSIVE senders AS (
        (SELECT c.sender FROM permit_nonce c WHERE ${isWanted} ORDER BY c.sender LIMIT 1)
        UNION ALL
        SELECT (SELECT c.sender FROM permit_nonce c WHERE ${isWanted} AND c.sender > l.sender ORDER BY c.sender LIMIT 1) FROM senders l WHERE l.sender IS NOT NULL)
      SELECT FROM (SELECT ${g}.chain_id, l.sender AS signer FROM senders l WHERE l.sender IS NOT NULL) q
       WHERE ${isSuspect('q')} AND EXISTS (SELECT FROM permit_nonce c WHERE ${isWanted} AND c.sender = q.signer AND ${MAY_BE_OF_BEFORE})))`;
}

export function wantsPermits({ payload }: Pick<TxRequest, 'payload'>): boolean {
  return payload.permits !== undefined;
}

/** In the transaction that stores the txs: the nodes that act for the owners find by these rows what to sign. */
export async function insertPermits(tx: PgTx, txs: readonly NewTx[]): Promise<void> {
  const wanted = txs.flatMap(({ txId, request: { signer, payload } }) =>
    (payload.permits ?? []).map(({ contract, owner }, position) => ({
      ...{ txId, position, contract, owner },
      ...{ chainId: signer.chainId, sender: signer.address },
    })),
  );
  if (wanted.length === 0) return;
  await tx.query(INSERT, [
    wanted.map(({ txId }) => txId),
    wanted.map(({ position }) => position),
    wanted.map(({ chainId }) => chainId),
    wanted.map(({ contract }) => contract),
    wanted.map(({ owner }) => owner),
    wanted.map(({ sender }) => sender),
  ]);
}
