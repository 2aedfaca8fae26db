import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../kernel/group-by.js';
import type { Tx } from '../../../kernel/unit-of-work.js';
import { Database } from '../../../platform/database/database.js';
import { PgTx } from '../../../platform/database/pg-tx.js';
import { BLOB_BYTES, type BlobSidecar } from '../../chain/index.js';
import { BlobRepository } from '../domain/blob.repository.js';
import type { TxRequest } from '../domain/tx-request.js';

/** Zeros at the end of a blob are not stored. */
const INSERT = {
  name: 'blob_insert',
  text: `
    INSERT INTO tx_blob (tx_id, position, blob, commitment, blob_proof, cell_proofs)
    SELECT b.tx_id, b.position, decode(b.blob, 'hex'), decode(b.commitment, 'hex'), decode(b.blob_proof, 'hex'), decode(b.cell_proofs, 'hex')
      FROM unnest($1::uuid[], $2::smallint[], $3::text[], $4::text[], $5::text[], $6::text[])
           AS b (tx_id, position, blob, commitment, blob_proof, cell_proofs)`,
};

const OF_TXS = {
  name: 'blob_of_txs',
  text: `
    SELECT tx_id, blob, commitment, blob_proof, cell_proofs FROM tx_blob
     WHERE tx_id = ANY($1::uuid[]) ORDER BY tx_id, position`,
};

const DELETE = {
  name: 'blob_delete',
  text: `DELETE FROM tx_blob WHERE tx_id = $1`,
};

/** Reads all of the table, which holds only what is in flight and what became final within the last hour. */
const PRUNE = {
  name: 'blob_prune',
  text: `
    DELETE FROM tx_blob d USING (
      SELECT b.tx_id, b.position FROM tx_blob b JOIN managed_tx t ON t.tx_id = b.tx_id
       WHERE t.state IN ('CONFIRMED', 'FAILED', 'CANCELLED', 'REPLACED', 'DROPPED') AND t.updated_at < clock_timestamp() - interval '1 hour'
       LIMIT $1) old
     WHERE d.tx_id = old.tx_id AND d.position = old.position`,
};

interface BlobRow {
  tx_id: string;
  blob: Buffer;
  commitment: Buffer;
  blob_proof: Buffer;
  cell_proofs: Buffer;
}

@Injectable()
export class PgBlobRepository extends BlobRepository {
  constructor(private readonly database: Database) {
    super();
  }

  async sidecars(txIds: readonly string[]): Promise<ReadonlyMap<string, BlobSidecar>> {
    const { rows } = await this.database.query<BlobRow>(OF_TXS, [txIds]);
    return new Map([...groupBy(rows, ({ tx_id }) => tx_id)].map(([txId, own]) => [txId, toSidecar(own)]));
  }

  async replace(tx: Tx, txId: string, sidecar: BlobSidecar | undefined): Promise<void> {
    const pgTx = PgTx.of(tx);
    await pgTx.query(DELETE, [txId]);
    if (sidecar) await insertBlobs(pgTx, [{ txId, request: { sidecar } }]);
  }

  async prune(limit: number): Promise<number> {
    const { rowCount } = await this.database.query(PRUNE, [limit]);
    return rowCount ?? 0;
  }
}

/** A tx, and the blobs that it may have. */
interface WithBlobs {
  readonly txId: string;
  readonly request: Pick<TxRequest, 'sidecar'>;
}

/** Stores the sidecars of txs in the database transaction that stores the txs. */
export async function insertBlobs(tx: PgTx, txs: readonly WithBlobs[]): Promise<void> {
  const rows = txs.flatMap(({ txId, request: { sidecar } }) =>
    (sidecar?.blobs ?? []).map((blob, position) => ({
      txId,
      position,
      blob: hex(withoutZeros(blob)),
      commitment: hex(sidecar?.commitments[position]),
      blobProof: hex(sidecar?.blobProofs[position]),
      cellProofs: hex(sidecar?.cellProofs[position]),
    })),
  );
  if (rows.length === 0) return;
  await tx.query(INSERT, [
    rows.map(({ txId }) => txId),
    rows.map(({ position }) => position),
    rows.map(({ blob }) => blob),
    rows.map(({ commitment }) => commitment),
    rows.map(({ blobProof }) => blobProof),
    rows.map(({ cellProofs }) => cellProofs),
  ]);
}

function toSidecar(rows: readonly BlobRow[]): BlobSidecar {
  return {
    blobs: rows.map(({ blob }) => Buffer.concat([blob, Buffer.alloc(BLOB_BYTES - blob.length)])),
    commitments: rows.map(({ commitment }) => commitment),
    blobProofs: rows.map(({ blob_proof }) => blob_proof),
    cellProofs: rows.map(({ cell_proofs }) => cell_proofs),
  };
}

function withoutZeros(blob: Uint8Array): Uint8Array {
  let end = blob.length;
  while (end > 0 && blob[end - 1] === 0) end -= 1;
  return blob.subarray(0, end);
}

function hex(bytes: Uint8Array = Buffer.alloc(0)): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}
