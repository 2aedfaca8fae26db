import { type Address, parseAddress } from '../../../kernel/hex.js';
import type { Database } from '../../../platform/database/database.js';
import type { PgTx } from '../../../platform/database/pg-tx.js';
import { awaitedAuthorities } from '../domain/authorization.js';
import type { NewTx } from '../domain/tx-intake.js';
import type { TxRequest } from '../domain/tx-request.js';

const UNKNOWN = {
  name: 'authorization_unknown',
  text: `
    SELECT w.tx_id, w.authority FROM unnest($1::uuid[], $2::bigint[], $3::text[]) AS w (tx_id, chain_id, authority)
     WHERE NOT EXISTS (SELECT FROM signer s WHERE s.chain_id = w.chain_id AND s.address = w.authority)`,
};

const INSERT = {
  name: 'authorization_insert',
  text: `
    INSERT INTO tx_authorization (tx_id, chain_id, authority)
    SELECT w.tx_id, w.chain_id, w.authority FROM unnest($1::uuid[], $2::bigint[], $3::text[]) AS w (tx_id, chain_id, authority)`,
};

/** Whether other signers have to sign for it. */
export function wantsAuthorizations({ payload }: Pick<TxRequest, 'payload'>): boolean {
  return awaitedAuthorities(payload.authorizationList).length > 0;
}

/** By tx id, an account that is to sign and is no signer of the chain. Costs nothing for txs that want no authorizations. */
export async function unknownAuthorities(
  database: Database,
  txs: readonly NewTx[],
): Promise<ReadonlyMap<string, Address>> {
  const wanting = txs.filter(({ request }) => wantsAuthorizations(request));
  if (wanting.length === 0) return new Map();
  const { rows } = await database.query<{ tx_id: string; authority: string }>(UNKNOWN, columns(wanting));
  return new Map(rows.map((row) => [row.tx_id, parseAddress(row.authority)]));
}

/** In the transaction that stores the txs: the owners of the authorities find by these rows what to sign. */
export async function insertAuthorizations(tx: PgTx, txs: readonly NewTx[]): Promise<void> {
  const wanting = txs.filter(({ request }) => wantsAuthorizations(request));
  if (wanting.length > 0) await tx.query(INSERT, columns(wanting));
}

function columns(txs: readonly NewTx[]): [string[], number[], string[]] {
  const wanted = txs.flatMap(({ txId, request: { signer, payload } }) =>
    awaitedAuthorities(payload.authorizationList).map((authority) => ({ txId, chainId: signer.chainId, authority })),
  );
  return [
    wanted.map(({ txId }) => txId),
    wanted.map(({ chainId }) => chainId),
    wanted.map(({ authority }) => authority),
  ];
}
