import { describe, expect, it } from '@jest/globals';
import { ANYONE } from '../../src/kernel/caller.js';
import { parseHex } from '../../src/kernel/hex.js';
import type { SignerId } from '../../src/kernel/signer-id.js';
import { aHash, aRequest, aSigner, DEV_CHAIN } from '../support/builders.js';
import { Named } from '../support/fakes/fake-node.js';
import { storedRows, txIdOf } from '../support/stored-rows.js';
import { type NewTx, type Intake } from '../../src/modules/ledger/domain/tx-intake.js';
import { PgTxIntake } from '../../src/modules/ledger/infrastructure/pg-tx-intake.js';

const stored = await storedRows();
const intake = new PgTxIntake(stored.node.database, new Named('first'));

const OURS = aSigner(1);
const OTHER = aSigner(2);
const ELSEWHERE: SignerId = { ...OURS, chainId: 7 };

async function register(...signers: readonly SignerId[]): Promise<void> {
  for (const { chainId, address } of signers) await stored.put('signer', { chain_id: chainId, address, custody: '{}' });
}

const aNewTx = (n: number, signer: SignerId, overrides: Partial<NewTx['request']> = {}, isServed = true): NewTx => ({
  txId: txIdOf(n),
  request: aRequest({ signer, requestHash: aHash(n), ...overrides }),
  isServed,
});
const kinds = (results: readonly Intake[]): string[] => results.map(({ kind }) => kind);
const foundIds = (results: readonly Intake[]): (string | null)[] =>
  results.map((result) => (result.kind === 'exists' ? result.tx.txId : null));

describe('a request', () => {
  it('is stored as it came, waiting, with the first event of its history', async () => {
    await register(OURS);
    const expiresAt = new Date('2030-01-01T00:00:00Z');
    const request = aRequest({
      signer: OURS,
      requestHash: aHash(1),
      payload: { ...aRequest().payload, data: parseHex('0xabcd'), value: 5n },
      priority: 3,
      confirmations: 4,
      expiresAt,
      metadata: { order: 7 },
    });
    expect(await intake.insertPending([{ txId: txIdOf(1), request, isServed: true }])).toEqual([
      { kind: 'created', txId: txIdOf(1), isPaused: false },
    ]);
    const [row] = await stored.read('SELECT * FROM managed_tx');
    expect(row).toMatchObject({
      tx_id: txIdOf(1),
      chain_id: `${DEV_CHAIN}`,
      signer: OURS.address,
      request_id: 'request-1',
      request_hash: aHash(1),
      to_address: request.payload.to,
      value: '5',
      data: Buffer.from('abcd', 'hex'),
      priority: 3,
      confirmations: 4,
      expires_at: expiresAt,
      metadata: { order: 7 },
      state: 'PENDING',
    });
    expect(await stored.read('SELECT chain_id, tx_id, reason, to_state, node_id, actor FROM tx_event')).toEqual([
      {
        chain_id: `${DEV_CHAIN}`,
        tx_id: txIdOf(1),
        reason: 'queued',
        to_state: 'PENDING',
        node_id: 'first',
        actor: 'anyone',
      },
    ]);
  });

  it('of another account with the same key is another tx, also in one batch; each account finds its own', async () => {
    await register(OURS);
    const sender = { ...ANYONE, name: 'key:shop', account: txIdOf(77) };
    const both = [aNewTx(1, OURS), aNewTx(2, OURS, { sender })];
    expect(kinds(await intake.insertPending(both))).toEqual(['created', 'created']);
    const again = [aNewTx(3, OURS, { sender }), aNewTx(4, OURS)];
    expect(foundIds(await intake.insertPending(again))).toEqual([txIdOf(2), txIdOf(1)]);
    const rows = 'SELECT t.tx_id, t.account_id, e.actor FROM managed_tx t JOIN tx_event e USING (tx_id) ORDER BY 1';
    expect(await stored.read(rows)).toEqual([
      { tx_id: txIdOf(1), account_id: ANYONE.account, actor: 'anyone' },
      { tx_id: txIdOf(2), account_id: sender.account, actor: 'key:shop' },
    ]);
  });

  it('of a signer that is not known on its chain is not stored', async () => {
    await register(ELSEWHERE, OTHER);
    expect(kinds(await intake.insertPending([aNewTx(1, OURS)]))).toEqual(['unknown_signer']);
    expect(await stored.read('SELECT FROM managed_tx')).toEqual([]);
  });

  it('whose signer no node can sign for is not stored, but found when it was before', async () => {
    await register(OURS);
    expect(kinds(await intake.insertPending([aNewTx(1, OURS, {}, false)]))).toEqual(['unserved_signer']);
    expect(await stored.read('SELECT FROM managed_tx')).toEqual([]);
    await intake.insertPending([aNewTx(2, OURS)]);
    expect(foundIds(await intake.insertPending([aNewTx(3, OURS, {}, false)]))).toEqual([txIdOf(2)]);
  });

  it('is another one for each signer and each chain, whatever its key', async () => {
    await register(OURS, OTHER, ELSEWHERE);
    await intake.insertPending([aNewTx(1, OTHER), aNewTx(2, ELSEWHERE)]);
    expect(kinds(await intake.insertPending([aNewTx(3, OURS)]))).toEqual(['created']);
    const again = [aNewTx(4, OTHER), aNewTx(5, ELSEWHERE), aNewTx(6, OURS)];
    expect(foundIds(await intake.insertPending(again))).toEqual([txIdOf(1), txIdOf(2), txIdOf(3)]);
  });

  it('is told to be stored, or not, for each of many keys at once: of its account, signer and chain alone', async () => {
    await register(OURS, OTHER, ELSEWHERE);
    const account = txIdOf(77);
    const stranger = aNewTx(9, OURS, { sender: { ...ANYONE, account } });
    await intake.insertPending([aNewTx(1, OURS), aNewTx(2, OURS, { requestId: 'other' })]);
    const asked = [aNewTx(3, OURS), aNewTx(4, OTHER), aNewTx(5, ELSEWHERE), stranger, aNewTx(6, OURS)];
    expect(await intake.areStored(asked.map(({ request }) => request))).toEqual([true, false, false, false, true]);
  });

  it('that came before is found with what became of it', async () => {
    await register(OURS);
    await stored.putTx(1, { state: 'IN_MEMPOOL', nonce: 8, request_id: 'request-1' });
    expect(await intake.insertPending([aNewTx(2, OURS)])).toEqual([
      {
        kind: 'exists',
        isPaused: false,
        tx: {
          txId: txIdOf(1),
          state: 'IN_MEMPOOL',
          nonce: 8n,
          txHash: aHash(1),
          contractAddress: null,
          requestHash: aHash(1),
        },
      },
    ]);
  });

  it('does not come between others with keys before and after its own', async () => {
    await register(OURS);
    await intake.insertPending([aNewTx(1, OURS, { requestId: 'a' }), aNewTx(2, OURS, { requestId: 'c' })]);
    expect(kinds(await intake.insertPending([aNewTx(3, OURS, { requestId: 'b' })]))).toEqual(['created']);
    // Under a key that nobody had, an unserved one finds nothing: not the next key either.
    expect(kinds(await intake.insertPending([aNewTx(4, OURS, { requestId: 'aa' }, false)]))).toEqual([
      'unserved_signer',
    ]);
  });
});

it('a batch locks its keys in their order, so that two with the same ones wait for each other and never deadlock', async () => {
  await register(OURS, OTHER, ELSEWHERE);
  const batch = [
    aNewTx(1, OTHER, { requestId: 'b' }),
    aNewTx(2, OURS, { requestId: 'c' }),
    aNewTx(3, OURS, { requestId: 'a' }),
    aNewTx(4, ELSEWHERE, { requestId: 'd' }),
  ];
  await intake.insertPending(batch);
  // Rows lie in the order in which they were written.
  const rows = await stored.read<{ tx_id: string }>('SELECT tx_id FROM managed_tx ORDER BY ctid');
  expect(rows.map(({ tx_id }) => tx_id)).toEqual([4, 3, 2, 1].map(txIdOf));
});
