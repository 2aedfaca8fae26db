import { describe, expect, it } from '@jest/globals';
import { DEFAULT_ACCOUNT } from '../../src/kernel/caller.js';
import { parseHex } from '../../src/kernel/hex.js';
import type { Tx } from '../../src/kernel/unit-of-work.js';
import type { BlobSidecar } from '../../src/modules/chain/index.js';
import { PgCommandStore } from '../../src/modules/commands/infrastructure/pg-command-store.js';
import { PgEventLog } from '../../src/modules/events/infrastructure/pg-event-log.js';
import { PgCommandedTxs } from '../../src/modules/ledger/infrastructure/pg-commanded-txs.js';
import { PgBlobRepository } from '../../src/modules/ledger/infrastructure/pg-blob.repository.js';
import type { CommandKind, CommandStatus, TxCommand } from '../../src/modules/commands/domain/tx-command.js';
import { NO_FEES } from '../../src/modules/ledger/domain/tx-request.js';
import type { Fence } from '../../src/modules/signers/index.js';
import { aHash, aManagedTx, anAddress, aRequest, aSigner, DEV_CHAIN } from '../support/builders.js';
import { SilentEventBell } from '../support/fakes/silent-event-bell.js';
import { sidecarDigests } from '../support/sidecar-digests.js';
import { storedRows, txIdOf } from '../support/stored-rows.js';

const stored = await storedRows();
const blobs = new PgBlobRepository(stored.node.database);
const txs = new PgCommandedTxs(stored.node.database, { id: 'first' }, blobs, new PgEventLog(new SilentEventBell()));
const store = new PgCommandStore(stored.node.database);

const OURS = aSigner(1);
const OTHER = aSigner(2);
const inTransaction = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => stored.node.database.run(work);

const ofTx = (n: number) => store.ofTx(txIdOf(n), null, 100);

const aCommand = (n: number, overrides: Partial<TxCommand> = {}): TxCommand => ({
  commandId: txIdOf(900 + n),
  signer: OURS,
  txId: txIdOf(1),
  kind: 'cancel',
  requestId: `command-${n}`,
  requestHash: aHash(n),
  fees: null,
  txHash: null,
  ttl: null,
  replacement: null,
  status: 'QUEUED',
  refusal: null,
  tries: 0,
  ...overrides,
});

/** Its proofs are not valid, which nothing here checks. */
const aSidecar = (tag: number, count = 1): BlobSidecar => {
  const each = (length: number): Buffer[] => Array.from({ length: count }, (_, i) => Buffer.alloc(length, tag + i));
  return { blobs: each(131_072), commitments: each(48), blobProofs: each(48), cellProofs: each(6144) };
};

async function insert(...commands: readonly TxCommand[]): Promise<void> {
  for (const command of commands) await inTransaction((tx) => store.insert(tx, command, DEFAULT_ACCOUNT));
}

describe('a command', () => {
  it('is read as it was stored, with what an outside sender named, and the time that it wants', async () => {
    const all = [aCommand(1, { kind: 'consume', txHash: aHash(7) }), aCommand(2, { kind: 'extend', ttl: 60 })];
    await insert(...all, aCommand(3, { txId: txIdOf(2), kind: 'release' }));
    expect(await ofTx(1)).toEqual(all);
  });

  it('is read as it was stored, with the fees that a client chose', async () => {
    const fees = { ...NO_FEES, maxFeePerGas: 7n, maxPriorityFeePerGas: 0n };
    const all = [aCommand(1, { kind: 'speed_up', fees }), aCommand(2, { kind: 'replace', replacement: txIdOf(2) })];
    await insert(...all);
    expect(await ofTx(1)).toEqual(all);
    expect(await ofTx(2)).toEqual([]);
  });

  it('is in a page of those of its tx, oldest first, and by itself, however many there are', async () => {
    await insert(...[1, 2, 3, 4, 5].map((n) => aCommand(n)), aCommand(6, { txId: txIdOf(2) }));
    const page = async (after: number | null) =>
      (await store.ofTx(txIdOf(1), after === null ? null : txIdOf(900 + after), 2)).map(({ requestId }) =>
        Number(requestId.slice(8)),
      );
    expect([await page(null), await page(2), await page(4), await page(5)]).toEqual([[1, 2], [3, 4], [5], []]);
    expect(await store.get(txIdOf(905))).toEqual(aCommand(5));
  });

  it('is found by its key and its signer', async () => {
    await insert(aCommand(1), aCommand(2, { signer: OTHER, requestId: 'command-1' }));
    const found = await store.find(OTHER, 'command-1', DEFAULT_ACCOUNT);
    expect(found).toEqual(aCommand(2, { signer: OTHER, requestId: 'command-1' }));
    expect(await store.find(OURS, 'command-2', DEFAULT_ACCOUNT)).toBeNull();
  });

  it('with a key that another account has is another one, and each account finds its own', async () => {
    const account = txIdOf(77);
    const theirs = aCommand(2, { requestId: 'command-1' });
    await insert(aCommand(1));
    await inTransaction((tx) => store.insert(tx, theirs, account));
    const found = (of: string) => inTransaction((tx) => store.find(OURS, 'command-1', of, tx));
    expect([await found(DEFAULT_ACCOUNT), await found(account)]).toEqual([aCommand(1), theirs]);
  });

  it('with a key that another one has is refused', async () => {
    await insert(aCommand(1));
    await expect(insert(aCommand(2, { requestId: 'command-1' }))).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
  });

  it('waits for the owner of its signer until it is decided, the longest due first', async () => {
    await insert(aCommand(1), aCommand(2), aCommand(3, { signer: OTHER }), aCommand(4, { status: 'DONE' }));
    const ids = async () => (await store.queued(DEV_CHAIN, [OURS.address], 10)).map(({ requestId }) => requestId);
    expect(await ids()).toEqual(['command-1', 'command-2']);
    expect((await store.queued(DEV_CHAIN, [OURS.address, OTHER.address], 1)).map(({ requestId }) => requestId)).toEqual(
      ['command-1', 'command-3'],
    );
    await store.decide([
      { commandId: txIdOf(901), refusal: null },
      { commandId: txIdOf(902), refusal: 'too late' },
    ]);
    expect(await ids()).toEqual([]);
    expect(await ofTx(1)).toMatchObject([
      { status: 'DONE', refusal: null },
      { status: 'REFUSED', refusal: 'too late' },
      { status: 'QUEUED' },
      { status: 'DONE' },
    ]);
  });

  it('that could not be carried out is read again when its pause is over, and says how often it was tried', async () => {
    await insert(aCommand(1), aCommand(2));
    const read = async () =>
      (await store.queued(DEV_CHAIN, [OURS.address], 10)).map(({ requestId, tries }) => [requestId, tries]);
    await store.postpone([{ id: txIdOf(901), inMs: 3_600_000 }]);
    expect(await read()).toEqual([['command-2', 0]]);
    await store.postpone([{ id: txIdOf(901), inMs: -1 }]);
    expect(await read()).toEqual([
      ['command-2', 0],
      ['command-1', 2],
    ]);
  });

  it('that is decided in a transaction stays open without its commit', async () => {
    await insert(aCommand(1), aCommand(2));
    const decide = (n: number, fail: boolean) =>
      inTransaction(async (tx) => {
        await store.decide([{ commandId: txIdOf(900 + n), refusal: null }], tx);
        if (fail) throw new Error('no commit');
      });
    await decide(1, false);
    await decide(2, true).catch(() => undefined);
    const all = await Promise.all([1, 2, 3].map((n) => store.get(txIdOf(900 + n))));
    expect(all.map((command) => command?.status)).toEqual(['DONE', 'QUEUED', undefined]);
  });

  it('that is decided stays so', async () => {
    await insert(aCommand(1));
    await store.decide([{ commandId: txIdOf(901), refusal: null }]);
    await store.decide([{ commandId: txIdOf(901), refusal: 'too late' }]);
    expect(await ofTx(1)).toMatchObject([{ status: 'DONE', refusal: null }]);
  });

  it('says when it was decided', async () => {
    await insert(aCommand(1), aCommand(2, { status: 'DONE' }), aCommand(3));
    await store.decide([{ commandId: txIdOf(903), refusal: 'too late' }]);
    const rows = await stored.read<{ decided: boolean }>(
      'SELECT decided_at IS NOT NULL AS decided FROM tx_command ORDER BY command_id',
    );
    expect(rows.map(({ decided }) => decided)).toEqual([false, true, true]);
  });
});

describe('a replace', () => {
  it('blocks another one of the same tx only while it waits', async () => {
    const isQueued = (kind: CommandKind = 'replace') => inTransaction((tx) => store.hasQueued(txIdOf(1), kind, tx));
    await insert(aCommand(1), aCommand(2, { kind: 'replace', replacement: txIdOf(2) }));
    expect([await isQueued(), await isQueued('cancel'), await isQueued('consume')]).toEqual([true, true, false]);
    await store.decide([{ commandId: txIdOf(902), refusal: 'too late' }]);
    expect(await isQueued()).toBe(false);
  });

  it('stores its tx with its event, and no lane may take it', async () => {
    const request = aRequest({ signer: OURS, requestId: 'new', priority: 3, metadata: { order: '7' } });
    await inTransaction((tx) => txs.insertReplacement(tx, txIdOf(2), request, txIdOf(1)));
    expect(
      await stored.read(
        `SELECT tx_id, state, sub_state, replaces, request_id, priority, metadata, next_resubmit_at::text AS due FROM managed_tx`,
      ),
    ).toEqual([
      {
        tx_id: txIdOf(2),
        state: 'PENDING',
        sub_state: 'REPLACING',
        replaces: txIdOf(1),
        request_id: 'new',
        priority: 3,
        metadata: { order: '7' },
        due: 'infinity',
      },
    ]);
    expect(await stored.read('SELECT tx_id, reason, to_state, node_id FROM tx_event')).toEqual([
      { tx_id: txIdOf(2), reason: 'queued', to_state: 'PENDING', node_id: 'first' },
    ]);
  });

  it('stores its blobs with its tx', async () => {
    const sidecar = aSidecar(3);
    const request = { ...aRequest({ signer: OURS, requestId: 'new' }), sidecar };
    await inTransaction((tx) => txs.insertReplacement(tx, txIdOf(2), request, txIdOf(1)));
    expect(sidecarDigests(await blobs.sidecars([txIdOf(1), txIdOf(2)]))).toEqual(
      sidecarDigests(new Map([[txIdOf(2), sidecar]])),
    );
  });

  it('is told whether its tx has blobs', async () => {
    await stored.putTx(1, { options: JSON.stringify({ speed: 'fast', blobHashes: [aHash(1)] }) });
    await stored.putTx(2);
    const hasBlobs = (n: number) => inTransaction((tx) => txs.hasBlobs(tx, txIdOf(n)));
    expect([await hasBlobs(1), await hasBlobs(2), await hasBlobs(3)]).toEqual([true, false, false]);
  });

  it('with the requestId of a tx is refused', async () => {
    await stored.putTx(1);
    const request = aRequest({ signer: aSigner(), requestId: 'request-1' });
    expect(await inTransaction((tx) => txs.insertReplacement(tx, txIdOf(2), request, txIdOf(1)))).toBe(false);
    expect(await stored.read('SELECT tx_id FROM managed_tx')).toEqual([{ tx_id: txIdOf(1) }]);
  });
});

describe('a hold', () => {
  it('is told what was said of it before, word for word and in the same state', async () => {
    await insert(
      aCommand(1, { kind: 'consume', requestHash: aHash(1) }),
      aCommand(2, { kind: 'consume', requestHash: aHash(2), status: 'DONE' }),
      aCommand(3, { kind: 'consume', requestHash: aHash(1), txId: txIdOf(2) }),
      aCommand(4, { kind: 'consume', requestHash: aHash(1) }),
    );
    const same = async (
      status: CommandStatus,
      hash: number,
      kind: CommandKind = 'consume',
      account: string = DEFAULT_ACCOUNT,
    ) => {
      const command = { txId: txIdOf(1), kind, requestHash: aHash(hash) };
      return (await inTransaction((tx) => store.same(tx, command, [status, 'REFUSED'], account)))?.commandId;
    };
    expect([await same('QUEUED', 1), await same('DONE', 2)]).toEqual([txIdOf(901), txIdOf(902)]);
    expect(await same('QUEUED', 1, 'consume', txIdOf(77))).toBeUndefined();
    expect([await same('DONE', 1), await same('QUEUED', 2), await same('QUEUED', 1, 'extend')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('lasts longer when its sender wants that, never less, and only while nothing was sent and it has an end', async () => {
    const held = { kind: 'hold', state: 'ALLOCATED' };
    const hour = `now() + interval '1 hour'`;
    await stored.putTx(1, { ...held, expires_at: `now() - interval '1 second'` });
    await stored.putTx(2, { ...held, expires_at: `now() + interval '10 hours'` });
    await stored.putTx(3, held);
    await stored.putTx(4, { ...held, state: 'IN_MEMPOOL', expires_at: `now() - interval '1 second'` });
    await stored.putTx(5, { state: 'ALLOCATED', expires_at: `now() - interval '1 second'` });
    await stored.putTx(6, { ...held, state: 'PENDING', expires_at: `now() - interval '1 second'` });
    const old = { ...held, created_at: `now() - interval '23 hours 30 minutes'` };
    await stored.putTx(7, { ...old, expires_at: `now() - interval '1 second'` });
    await inTransaction(async (tx) => {
      const fence = { tx, tokenFor: () => 3n } as unknown as Fence;
      for (const n of [1, 2, 3, 4, 5, 6, 7]) await txs.extend(fence, aManagedTx({ txId: txIdOf(n) }).build(), 3_600);
    });
    const rows = await stored.read(
      `SELECT expires_at > ${hour} - interval '1 minute' AS later, expires_at > ${hour} + interval '1 minute' AS kept, version FROM managed_tx WHERE tx_id <> '${txIdOf(7)}' ORDER BY tx_id`,
    );
    expect(rows).toEqual([
      { later: true, kept: false, version: 1 },
      { later: true, kept: true, version: 1 },
      { later: null, kept: null, version: 0 },
      { later: false, kept: false, version: 0 },
      { later: false, kept: false, version: 0 },
      { later: true, kept: false, version: 1 },
    ]);
    // Up to a day since it was reserved.
    const [left] = await stored.read<{ minutes: number }>(
      `SELECT extract(epoch FROM expires_at - now())::int / 60 AS minutes FROM managed_tx WHERE tx_id = '${txIdOf(7)}'`,
    );
    expect([29, 30]).toContain(left?.minutes);
  });

  it('has lasted longest a day after it was reserved', async () => {
    const has = (n: number) => inTransaction((tx) => txs.hasLastedLongest(tx, txIdOf(n)));
    await stored.putTx(1, { kind: 'hold', created_at: `now() - interval '23 hours'` });
    await stored.putTx(2, { kind: 'hold', created_at: `now() - interval '25 hours'` });
    expect([await has(1), await has(2), await has(3)]).toEqual([false, true, false]);
  });
});

describe('a waiting tx', () => {
  it('has expired when its end has passed by the clock of the database', async () => {
    await stored.putTx(1, { expires_at: `now() - interval '1 second'` });
    await stored.putTx(2, { expires_at: `now() + interval '1 hour'` });
    await stored.putTx(3);
    const expired = await Promise.all([1, 2, 3, 4].map((n) => txs.hasExpired(txIdOf(n))));
    expect(expired).toEqual([true, false, false, false]);
  });

  it('is locked while it is changed', async () => {
    await stored.putTx(1);
    const session = await stored.lab.session();
    const free = await inTransaction(async (tx) => {
      await txs.lock(tx, txIdOf(1));
      return session.run('SELECT tx_id FROM managed_tx FOR UPDATE SKIP LOCKED');
    });
    expect(free).toEqual([]);
    expect(await inTransaction((tx) => txs.lock(tx, txIdOf(5)))).toBeNull();
  });

  it('gets another payload, is due, and has another version', async () => {
    await stored.putTx(1, {
      tries: 4,
      last_error: 'no',
      sub_state: 'FEE_CAPPED',
      next_resubmit_at: `now() + interval '1 hour'`,
      confirmations: 9,
      expires_at: 'now()',
      close_due_at: 'now()',
      metadata: '{"order":"7"}',
    });
    const request = aRequest({
      payload: { to: anAddress(9), value: 5n, data: parseHex('0xabcd'), gasLimit: null, accessList: [] },
      confirmations: 4,
      metadata: { order: '8' },
    });
    await inTransaction(async (tx) => {
      const managed = await txs.lock(tx, txIdOf(1));
      managed?.edited('new');
      if (managed) await txs.savePending(tx, managed, request, 'key:1');
    });
    const due = 'next_resubmit_at <= now() AS due';
    expect(
      await stored.read(
        `SELECT state, sub_state, tries, last_error, version, to_address, value, encode(data, 'hex') AS data, confirmations, metadata, ${due} FROM managed_tx`,
      ),
    ).toEqual([
      {
        state: 'PENDING',
        sub_state: null,
        tries: 0,
        last_error: null,
        version: 1,
        to_address: anAddress(9),
        value: '5',
        data: 'abcd',
        confirmations: 4,
        metadata: { order: '8' },
        due: true,
      },
    ]);
  });

  it('keeps no end, confirmations and metadata of its old payload', async () => {
    const old = { confirmations: 9, expires_at: 'now()', close_due_at: 'now()', metadata: '{"order":"7"}' };
    await stored.putTx(1, old);
    await inTransaction(async (tx) => {
      const managed = await txs.lock(tx, txIdOf(1));
      managed?.edited('new');
      if (managed) await txs.savePending(tx, managed, aRequest(), 'key:1');
    });
    expect(await stored.read('SELECT confirmations, expires_at, close_due_at, metadata FROM managed_tx')).toEqual([
      { confirmations: null, expires_at: null, close_due_at: null, metadata: null },
    ]);
  });

  it.each<[string, BlobSidecar | undefined]>([
    ['others', aSidecar(4)],
    ['none', undefined],
  ])('has the blobs of its new payload, and no old ones: %s', async (_what, sidecar) => {
    await stored.putTx(1);
    await stored.putTx(2);
    await inTransaction((tx) => blobs.replace(tx, txIdOf(1), aSidecar(3, 2)));
    await inTransaction((tx) => blobs.replace(tx, txIdOf(2), aSidecar(5)));
    await inTransaction(async (tx) => {
      const managed = await txs.lock(tx, txIdOf(1));
      managed?.edited('new');
      if (managed) await txs.savePending(tx, managed, { ...aRequest(), ...(sidecar && { sidecar }) }, 'key:1');
    });
    expect(sidecarDigests(await blobs.sidecars([txIdOf(1)]))).toEqual(
      sidecarDigests(new Map(sidecar ? [[txIdOf(1), sidecar]] : [])),
    );
    expect(sidecarDigests(await blobs.sidecars([txIdOf(2)]))).toEqual(
      sidecarDigests(new Map([[txIdOf(2), aSidecar(5)]])),
    );
  });

  it('keeps its blobs when it is cancelled', async () => {
    await stored.putTx(1);
    await inTransaction((tx) => blobs.replace(tx, txIdOf(1), aSidecar(3)));
    await inTransaction(async (tx) => {
      const managed = await txs.lock(tx, txIdOf(1));
      managed?.cancelled('by a client');
      if (managed) await txs.savePending(tx, managed, null, 'key:1');
    });
    expect(sidecarDigests(await blobs.sidecars([txIdOf(1)]))).toEqual(
      sidecarDigests(new Map([[txIdOf(1), aSidecar(3)]])),
    );
    expect(await stored.read('SELECT tx_id, reason, node_id, fencing_token FROM tx_event')).toEqual([
      { tx_id: txIdOf(1), reason: 'cancelled', node_id: 'first', fencing_token: null },
    ]);
  });

  it('that waits for its command keeps waiting when it gets another payload', async () => {
    await stored.putTx(1, { sub_state: 'REPLACING', replaces: txIdOf(7), next_resubmit_at: `'infinity'` });
    await inTransaction(async (tx) => {
      const managed = await txs.lock(tx, txIdOf(1));
      managed?.edited('new');
      if (managed) await txs.savePending(tx, managed, aRequest(), 'key:1');
    });
    expect(await stored.read('SELECT next_resubmit_at::text AS due FROM managed_tx')).toEqual([{ due: 'infinity' }]);
  });

  it('that has a nonce by now is not written', async () => {
    await stored.putTx(1);
    const managed = await inTransaction((tx) => txs.lock(tx, txIdOf(1)));
    await stored.read(`UPDATE managed_tx SET state = 'ALLOCATED', nonce = 1, gas_limit = 21000`);
    managed?.cancelled('by a client');
    await inTransaction(async (tx) => {
      if (managed) await txs.savePending(tx, managed, null, 'key:1');
    });
    expect(await stored.read('SELECT state FROM managed_tx')).toEqual([{ state: 'ALLOCATED' }]);
  });
});

describe('a tx that expired', () => {
  const past = { expires_at: `now() - interval '1 second'` };

  it('and waits, or is in flight, is found when its slot is not being closed, and nothing else competes for it', async () => {
    await stored.putTx(1, { ...past, state: 'IN_MEMPOOL' });
    await stored.putTx(2, { ...past, state: 'ALLOCATED', gas_limit: 21_000 });
    await stored.putTx(3, { state: 'IN_MEMPOOL', expires_at: `now() + interval '1 hour'` });
    await stored.putTx(4, {
      ...past,
      state: 'IN_MEMPOOL',
      closing: '{"as":"CANCELLED","reason":"x","won":false}',
      failure_reason: 'x',
    });
    await stored.putTx(5, { ...past, state: 'IN_MEMPOOL', sub_state: 'REPLACING', replaced_by: txIdOf(1) });
    await stored.putTx(6, { ...past, state: 'IN_MEMPOOL', sub_state: 'REPLACING' });
    await stored.putTx(7, { ...past, state: 'MINED' });
    await stored.putTx(8, past);
    await stored.putTx(9, { ...past, state: 'IN_MEMPOOL', signer: OTHER.address });
    await stored.putTx(10, { state: 'IN_MEMPOOL' });
    const found = await txs.expired(DEV_CHAIN, [OURS.address], 10);
    expect(found.map(({ id }) => id).sort()).toEqual([txIdOf(1), txIdOf(2), txIdOf(8)]);
  });

  it('and is a hold without a nonce, is not found while its sender wants it to last longer', async () => {
    const hold = { ...past, kind: 'hold' };
    for (const n of [1, 2, 3, 4]) await stored.putTx(n, hold);
    await stored.putTx(5, { ...hold, state: 'ALLOCATED' });
    await insert(
      aCommand(1, { txId: txIdOf(1), kind: 'extend', ttl: 60 }),
      aCommand(2, { txId: txIdOf(2), kind: 'extend', ttl: 60, status: 'DONE' }),
      aCommand(3, { txId: txIdOf(3), kind: 'release' }),
    );
    const found = await txs.expired(DEV_CHAIN, [OURS.address], 10);
    expect(found.map(({ id }) => id).sort()).toEqual([2, 3, 4].map(txIdOf));
  });

  it('is found again later when it could not be closed, and of each signer the longest due come first', async () => {
    const ids = async (perSigner: number) =>
      (await txs.expired(DEV_CHAIN, [OURS.address, OTHER.address], perSigner)).map(({ id }) => id);
    await stored.putTx(1, { ...past, state: 'IN_MEMPOOL' });
    await stored.putTx(2, { state: 'IN_MEMPOOL', expires_at: `now() - interval '2 seconds'` });
    await stored.putTx(3, { ...past, signer: OTHER.address });
    expect(await ids(1)).toEqual([txIdOf(2), txIdOf(3)]);
    await txs.postponeClosing([
      { id: txIdOf(2), inMs: 3_600_000 },
      { id: txIdOf(3), inMs: -1 },
    ]);
    expect(await ids(9)).toEqual([txIdOf(1), txIdOf(3)]);
  });
});
