import { describe, expect, it } from '@jest/globals';
import type { BlobSidecar } from '../../src/modules/chain/index.js';
import { PgBlobRepository } from '../../src/modules/ledger/infrastructure/pg-blob.repository.js';
import { aBlob, aHash, aRequest, aSigner } from '../support/builders.js';
import { Named } from '../support/fakes/fake-node.js';
import { sidecarDigests } from '../support/sidecar-digests.js';
import { storedRows, txIdOf } from '../support/stored-rows.js';
import { type NewTx } from '../../src/modules/ledger/domain/tx-intake.js';
import { PgTxIntake } from '../../src/modules/ledger/infrastructure/pg-tx-intake.js';
import { PgTxsInFlight } from '../../src/modules/ledger/infrastructure/pg-txs-in-flight.js';

const stored = await storedRows();
const intake = new PgTxIntake(stored.node.database, new Named('first'));
const inFlight = new PgTxsInFlight(stored.node.database);
const blobs = new PgBlobRepository(stored.node.database);

const SIGNER = aSigner();
const bytes = (length: number, value: number): Buffer => Buffer.alloc(length, value);
/** The second blob ends with zeros, which are not stored. */
const SIDECAR: BlobSidecar = {
  blobs: [aBlob(3), Buffer.concat([bytes(64, 1), bytes(131_008, 0)])],
  commitments: [bytes(48, 3), bytes(48, 4)],
  blobProofs: [bytes(48, 5), bytes(48, 6)],
  cellProofs: [bytes(6144, 7), bytes(6144, 8)],
};

const aNewTx = (n: number, requestId = `request-${n}`, sidecar: BlobSidecar | null = SIDECAR): NewTx => ({
  txId: txIdOf(n),
  request: { ...aRequest({ signer: SIGNER, requestId, requestHash: aHash(n) }), ...(sidecar && { sidecar }) },
  isServed: true,
});

async function register(): Promise<void> {
  await stored.put('signer', { chain_id: SIGNER.chainId, address: SIGNER.address, custody: '{}' });
}

const storedIds = async (): Promise<unknown[]> =>
  (await stored.read<{ tx_id: string }>('SELECT DISTINCT tx_id FROM tx_blob ORDER BY tx_id')).map(({ tx_id }) => tx_id);

describe('blobs', () => {
  it('are stored with their tx, in their order, and are the same when they are read', async () => {
    await register();
    await intake.insertPending([aNewTx(1), aNewTx(2, 'plain', null)]);
    expect(sidecarDigests(await blobs.sidecars([txIdOf(1), txIdOf(2)]))).toEqual(
      sidecarDigests(new Map([[txIdOf(1), SIDECAR]])),
    );
    const lengths = await stored.read('SELECT octet_length(blob) AS length FROM tx_blob ORDER BY position');
    expect(lengths).toEqual([{ length: 131_072 }, { length: 64 }]);
  });

  it('of a request that was stored before, or of an unknown signer, are not stored', async () => {
    await register();
    await intake.insertPending([aNewTx(1, 'once')]);
    const foreign = { ...aNewTx(3), request: { ...aNewTx(3).request, signer: aSigner(9) } };
    await intake.insertPending([aNewTx(2, 'once'), foreign]);
    expect(await storedIds()).toEqual([txIdOf(1)]);
  });

  it('are deleted an hour after their tx became final, a few at a time', async () => {
    const final = { state: 'FAILED', failure_reason: 'refused' };
    const old = `now() - interval '61 minutes'`;
    for (const [n, row, updatedAt] of [
      [1, final, old],
      [2, final, `now() - interval '59 minutes'`],
      [3, {}, old],
      [4, final, old],
    ] as const) {
      await stored.putTx(n, row);
      await stored.read(`UPDATE managed_tx SET updated_at = ${updatedAt} WHERE tx_id = '${txIdOf(n)}'`);
      await stored.read(
        `INSERT INTO tx_blob SELECT '${txIdOf(n)}', 0, '', p.proof, p.proof, decode(repeat('00', 6144), 'hex') FROM (SELECT decode(repeat('00', 48), 'hex') AS proof) p`,
      );
    }
    expect(await blobs.prune(1)).toBe(1);
    expect(await storedIds()).toHaveLength(3);
    expect(await blobs.prune(10)).toBe(1);
    expect(await storedIds()).toEqual([txIdOf(2), txIdOf(3)]);
  });
});

describe('what a signer has in flight', () => {
  const BLOB = JSON.stringify({ speed: 'standard', blobHashes: [aHash(1)] });
  const OWN = JSON.stringify({ speed: 'standard', authorizationList: [{ signer: SIGNER.address }] });
  const SIGNED = JSON.stringify({ speed: 'standard', authorizationList: [{ r: '0x01' }] });
  const flight = (nonce: number, options?: string) => ({
    state: 'ALLOCATED',
    nonce,
    gas_limit: 21_000,
    ...(options !== undefined && { options }),
  });
  const kind = async () => (await inFlight.kindsInFlight([SIGNER, aSigner(2)]))[0];

  it('is nothing, or of one kind', async () => {
    expect(await kind()).toBeNull();
    await stored.putTx(1, flight(1));
    await stored.putTx(2, flight(2, SIGNED));
    expect(await kind()).toBe('plain');
    await stored.putTx(3, flight(3, OWN));
    expect(await kind()).toBe('alone');
    await stored.putTx(4, flight(4, BLOB));
    expect(await kind()).toBe('blob');
    expect(await inFlight.kindsInFlight([aSigner(2)])).toEqual([null]);
  });

  it('is nothing that rests because a rival of it is mined', async () => {
    await stored.putTx(1, { ...flight(1, BLOB), state: 'IN_MEMPOOL', sub_state: 'REPLACING' });
    expect(await kind()).toBeNull();
  });

  it('is an authorization for the tx of another signer, until that is mined', async () => {
    await stored.putTx(1, { ...flight(1), signer: aSigner(2).address });
    const grant = { tx_id: txIdOf(1), chain_id: SIGNER.chainId, authority: SIGNER.address };
    await stored.put('tx_authorization', grant);
    expect(await kind()).toBeNull();
    await stored.read(`UPDATE tx_authorization SET nonce = 7, granted_at = now()`);
    expect(await kind()).toBe('alone');
    await stored.read(
      `UPDATE managed_tx SET state = 'MINED', receipt = '{}', block_number = 1, block_hash = request_hash, tx_hash = request_hash`,
    );
    expect(await kind()).toBeNull();
    await stored.read(`UPDATE managed_tx SET closing = '{"as":"CANCELLED","reason":"cancelled","won":true}'`);
    expect(await kind()).toBe('alone');
  });

  it('is nothing that is mined', async () => {
    await stored.putTx(1, { ...flight(1, BLOB), state: 'MINED', receipt: JSON.stringify({ status: 'success' }) });
    expect(await kind()).toBeNull();
  });
});
