import type { PgTx } from '../../../platform/database/pg-tx.js';
import type { NewTx } from '../domain/tx-intake.js';
import type { TxRequest } from '../domain/tx-request.js';

const INSERT = {
  name: 'permit_insert',
  text: `
    INSERT INTO permit_nonce (tx_id, position, chain_id, contract, owner, sender)
    SELECT * FROM unnest($1::uuid[], $2::smallint[], $3::bigint[], $4::text[], $5::text[], $6::text[])`,
};

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
