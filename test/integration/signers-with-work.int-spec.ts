import { beforeAll, describe, expect, it } from '@jest/globals';
import { signerKey, type SignerId } from '../../src/kernel/signer-id.js';
import type { TxState } from '../../src/modules/ledger/index.js';
import { aHash, anAddress, DEV_CHAIN } from '../support/builders.js';
import { Named } from '../support/fakes/fake-node.js';
import { acquire, twoNodeLab } from '../support/fence-lab.js';
import { type SignerWork } from '../../src/modules/ledger/domain/tx-queue.js';
import { PgTxQueue } from '../../src/modules/ledger/infrastructure/pg-tx-queue.js';

const { lab, first, second } = await twoNodeLab();
const queue = new PgTxQueue(first.database, new Named('first'));

const HOUR_MS = 3_600_000;
let txs = 0;
let chains = 0;
let contracts = 0;

interface Stored {
  readonly state?: TxState;
  /** When its timer runs out, in milliseconds from now; null: it has none. */
  readonly dueInMs?: number | null;
}

/** A tx as it lies in the database; what no statement here looks at is the same for all. */
async function store(signer: SignerId, { state = 'PENDING', dueInMs = null }: Stored = {}): Promise<void> {
  const n = ++txs;
  const isOnChain = state === 'MINED' || state === 'CONFIRMED';
  await lab.observer.write(
    `INSERT INTO managed_tx (tx_id, chain_id, signer, request_id, request_hash, value, data, options, priority, state, nonce,
                             failure_reason, tx_hash, block_hash, receipt, block_number, next_resubmit_at, replaced_by)
     VALUES (gen_random_uuid(), $1, $2, $3, $4, 0, '', '{}', 0, $5, $6, $7, $8, $8, $9, $10, clock_timestamp() + $11::float8 * interval '1 ms', $12)`,
    [
      signer.chainId,
      signer.address,
      `request-${n}`,
      aHash(n),
      state,
      state === 'PENDING' ? null : n,
      state === 'FAILED' ? 'for a reason' : null,
      isOnChain ? aHash(n) : null,
      isOnChain ? '{}' : null,
      isOnChain ? 1 : null,
      dueInMs,
      state === 'REPLACED' ? OTHER_TX : null,
    ],
  );
}

async function storeSlot(signer: SignerId, status: string, txId: string | null): Promise<void> {
  await lab.observer.write(
    `INSERT INTO signer_nonce_allocation (chain_id, signer, nonce, status, tx_id, fencing_token) VALUES ($1, $2, 0, $3, $4, 1)`,
    [signer.chainId, signer.address, status, txId],
  );
}

async function storeCursor(signer: SignerId, behind: string | null): Promise<void> {
  await lab.observer.write(
    `INSERT INTO signer_nonce_cursor (chain_id, signer, next_nonce, fencing_token, last_synced_at, behind, behind_since)
     VALUES ($1, $2, 0, 1, clock_timestamp(), $3, CASE WHEN $3::jsonb IS NOT NULL THEN clock_timestamp() END)`,
    [signer.chainId, signer.address, behind],
  );
}

async function storeCommand(signer: SignerId, status: string): Promise<void> {
  const n = ++txs;
  await lab.observer.write(
    `INSERT INTO tx_command (command_id, chain_id, signer, tx_id, kind, request_id, request_hash, status)
     VALUES (gen_random_uuid(), $1, $2, $3, 'cancel', $4, $5, $6)`,
    [signer.chainId, signer.address, OTHER_TX, `command-${n}`, aHash(n), status],
  );
}

async function workOf(signer: SignerId, look = queue.signersWithWork(DEV_CHAIN)): Promise<SignerWork | null> {
  const found = (await look).filter((work) => signerKey(work.signer) === signerKey(signer));
  expect(found.length).toBeLessThan(2);
  return found[0] ?? null;
}

const elsewhere = (signer: SignerId): SignerId => ({ ...signer, chainId: signer.chainId + 1 });
const OTHER_TX = '019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b';

describe('a look at all work of a chain', () => {
  it.each<{ what: string; stored: Stored; hasPending: boolean }>([
    { what: 'a tx that waits', stored: {}, hasPending: true },
    { what: 'a tx that waits and whose timer ran out', stored: { dueInMs: -1_000 }, hasPending: true },
    { what: 'a tx that waits for its timer', stored: { dueInMs: HOUR_MS }, hasPending: false },
    { what: 'a tx with a nonce', stored: { state: 'ALLOCATED' }, hasPending: false },
    { what: 'a tx in the mempool', stored: { state: 'IN_MEMPOOL' }, hasPending: false },
    {
      what: 'a tx in the mempool whose timer runs',
      stored: { state: 'IN_MEMPOOL', dueInMs: HOUR_MS },
      hasPending: false,
    },
    { what: 'a tx that is mined and not final', stored: { state: 'MINED' }, hasPending: false },
  ])('names a signer with nothing but $what', async ({ stored, hasPending }) => {
    const signer = lab.freshSigner();
    await store(signer, stored);
    expect(await workOf(signer)).toEqual({ signer, hasPending, lease: 'free' });
  });

  it.each(['CONFIRMED', 'FAILED', 'CANCELLED', 'REPLACED', 'DROPPED'] as const)(
    'does not name a signer with nothing but a tx that is %s',
    async (state) => {
      const signer = lab.freshSigner();
      await store(signer, { state });
      expect(await workOf(signer)).toBeNull();
    },
  );

  it('names a signer that is to sign an authorization for the tx of another one', async () => {
    const signer = lab.freshSigner();
    await lab.observer.write(
      `INSERT INTO tx_authorization (tx_id, chain_id, authority) VALUES (gen_random_uuid(), $1, $2)`,
      [signer.chainId, signer.address],
    );
    expect(await workOf(signer)).toEqual({ signer, hasPending: false, lease: 'free' });
  });

  it.each([
    ['is to sign', 'WANTED', null, true],
    ['has signed', 'HELD', 1, true],
    ['has lost', 'LOST', null, true],
    ['had signed', 'CONSUMED', 1, false],
    ['had signed in vain', 'RELEASED', 1, false],
  ])(
    'names each signer that %s permits for txs of others while a nonce of them is open',
    async (_, status, nonce, isOpen) => {
      const owners = lab.freshSigners(3);
      for (const { chainId, address } of [...owners, ...owners])
        await lab.observer.write(
          `INSERT INTO permit_nonce (tx_id, position, chain_id, contract, owner, sender, status, nonce, made_at, deadline)
           VALUES (gen_random_uuid(), 0, $1, $2, $3, $3, $4, $5, CASE WHEN $5::numeric IS NOT NULL THEN now() END, CASE WHEN $4 <> 'WANTED' THEN 0 END)`,
          [chainId, anAddress(++contracts), address, status, nonce],
        );
      for (const signer of owners)
        expect(await workOf(signer)).toEqual(isOpen ? { signer, hasPending: false, lease: 'free' } : null);
    },
  );

  it.each([
    ['held by a tx', 'HELD', OTHER_TX],
    ['free', 'RELEASED', null],
    ['consumed by somebody else', 'CONSUMED', null],
  ])('does not name a signer with nothing but a slot that is %s', async (_, status, txId) => {
    const signer = lab.freshSigner();
    await storeSlot(signer, status, txId);
    expect(await workOf(signer)).toBeNull();
  });

  it('names a signer with nothing but a command that waits, whose tx may have ended without an owner', async () => {
    const [waiting, done] = lab.freshSigners(2);
    if (!waiting || !done) throw new Error('two were made');
    await storeCommand(waiting, 'QUEUED');
    await storeCommand(done, 'DONE');
    await storeCommand(elsewhere(done), 'QUEUED');
    expect([await workOf(waiting), await workOf(done)]).toEqual([
      { signer: waiting, hasPending: true, lease: 'free' },
      null,
    ]);
  });

  it('names a signer with nothing but a chain that is behind our books: somebody has to see it catch up', async () => {
    const [behind, even] = lab.freshSigners(2);
    if (!behind || !even) throw new Error('two were made');
    await storeCursor(behind, '{}');
    await storeCursor(even, null);
    await storeCursor(elsewhere(even), '{}');
    expect([await workOf(behind), await workOf(even)]).toEqual([
      { signer: behind, hasPending: false, lease: 'free' },
      null,
    ]);
  });

  it('does not name a signer whose work is on another chain', async () => {
    const signer = lab.freshSigner();
    await store(elsewhere(signer));
    await store(elsewhere(signer), { state: 'MINED' });
    expect(await workOf(signer)).toBeNull();
    const there = await workOf(elsewhere(signer), queue.signersWithWork(DEV_CHAIN + 1));
    expect(there).toMatchObject({ hasPending: true });
  });

  it.each(['PENDING', 'ALLOCATED', 'IN_MEMPOOL', 'MINED'] as const)(
    'names every signer of the chain with %s, the first and the last, and nobody else',
    async (state) => {
      const chainId = ++chains * 1_000;
      const on = (chain: number, ...numbers: readonly number[]): SignerId[] =>
        numbers.map((n) => ({ chainId: chain, address: anAddress(n) }));
      const wanted = on(chainId, 5, 7, 9);
      for (const signer of [...wanted, ...on(chainId + 1, 3, 6, 8, 11)]) await store(signer, { state });
      for (const signer of on(chainId, 2, 4, 10)) await store(signer, { state: 'CONFIRMED' });

      const found = (await queue.signersWithWork(chainId)).map(({ signer }) => signerKey(signer));
      expect(found.sort()).toEqual(wanted.map(signerKey));
    },
  );

  it('names each once, and says that something waits when one of many is due', async () => {
    const [busy, waiting] = lab.freshSigners(2);
    if (!busy || !waiting) throw new Error('two were made');
    for (const signer of [busy, waiting]) {
      await store(signer, { dueInMs: HOUR_MS });
      await store(signer, { state: 'IN_MEMPOOL' });
      await store(signer, { state: 'MINED' });
    }
    await store(busy, { dueInMs: -1_000 });
    await store(elsewhere(waiting));
    expect([(await workOf(busy))?.hasPending, (await workOf(waiting))?.hasPending]).toEqual([true, false]);
  });

  it('takes neither a tx nor a fill of one signer for that of another', async () => {
    const [one, two, three] = lab.freshSigners(3);
    if (!one || !two || !three) throw new Error('three were made');
    await store(one, { dueInMs: HOUR_MS });
    await store(two);
    await store(three, { state: 'MINED' });
    const found = await Promise.all([one, two, three].map((signer) => workOf(signer)));
    expect(found.map((work) => work?.hasPending)).toEqual([false, true, false]);
  });
});

describe.each(['signersWithWork', 'signersInWork'] as const)('the lease that %s says', (look) => {
  const leaseOf = async (signer: SignerId): Promise<string | undefined> =>
    (await workOf(signer, queue[look](DEV_CHAIN)))?.lease;

  it('is held by another, this node’s own, released, or lapsed on whoever had it', async () => {
    const [held, own, released, lapsed, ownLapsed] = lab.freshSigners(5);
    if (!held || !own || !released || !lapsed || !ownLapsed) throw new Error('five were made');
    for (const signer of [held, own, released, lapsed, ownLapsed]) await store(signer, { dueInMs: -1_000 });
    await acquire(second, held);
    await acquire(first, own);
    await second.leases.release(second.id, [await acquire(second, released)]);
    await acquire(second, lapsed);
    await lab.expire(lapsed, 1);
    await acquire(first, ownLapsed);
    await lab.expire(ownLapsed, 1);

    const leases = await Promise.all([held, own, released, lapsed, ownLapsed].map(leaseOf));
    expect(leases).toEqual(['held', 'free', 'free', 'lapsed', 'lapsed']);
  });

  it('is the one of its own chain', async () => {
    const signer = lab.freshSigner();
    await store(signer);
    await acquire(second, elsewhere(signer));
    expect(await workOf(signer)).toMatchObject({ lease: 'free' });
    expect(await workOf(signer, queue.signersInWork(DEV_CHAIN))).toBeNull();
  });
});

describe.each(['signersWithWork', 'signersInWork'] as const)('a paused signer', (look) => {
  it(`is named by ${look} for what it has in flight, and not for what waits`, async () => {
    const [paused, other] = lab.freshSigners(2);
    if (!paused || !other) throw new Error('two were made');
    for (const signer of [paused, other]) {
      await acquire(first, signer);
      await store(signer, { dueInMs: -1_000 });
    }
    for (const { chainId, address } of [paused, elsewhere(other)])
      await lab.observer.write(`INSERT INTO signer_pause (chain_id, signer, by) VALUES ($1, $2, 'api')`, [
        chainId,
        address,
      ]);
    const found = await Promise.all([paused, other].map((signer) => workOf(signer, queue[look](DEV_CHAIN))));
    expect(found.map((work) => work?.hasPending)).toEqual([false, true]);
  });
});

describe('a look at the signers in work', () => {
  let signers: SignerId[];
  beforeAll(async () => {
    signers = lab.freshSigners(6);
    for (const signer of signers) await acquire(first, signer);
  });
  const inWork = (signer: SignerId): Promise<SignerWork | null> => workOf(signer, queue.signersInWork(DEV_CHAIN));

  it.each<{ what: string; stored: Stored | null; hasPending: boolean }>([
    { what: 'nothing', stored: null, hasPending: false },
    { what: 'a tx whose timer ran out', stored: { dueInMs: -1_000 }, hasPending: true },
    { what: 'a tx that waits for its timer', stored: { dueInMs: HOUR_MS }, hasPending: false },
    // Its bell finds it, and a look at all work.
    { what: 'a tx that waits for its first try', stored: {}, hasPending: false },
    { what: 'a tx in the mempool that is due', stored: { state: 'IN_MEMPOOL', dueInMs: -1_000 }, hasPending: false },
  ])('names a signer with a lease and $what', async ({ stored, hasPending }) => {
    const signer = signers.pop();
    if (!signer) throw new Error('there is one for each');
    await store(elsewhere(signer), { dueInMs: -1_000 });
    if (stored) await store(signer, stored);
    expect(await inWork(signer)).toEqual({ signer, hasPending, lease: 'free' });
  });

  it('leaves out a lease that was given up as idle, until somebody takes it again', async () => {
    const signer = lab.freshSigner();
    const lease = await acquire(first, signer);
    await store(signer, { dueInMs: -1_000 });
    await first.leases.release(first.id, [lease], true);
    expect(await inWork(signer)).toBeNull();
    expect(await workOf(signer)).toMatchObject({ hasPending: true, lease: 'free' });
    await acquire(second, signer);
    expect(await inWork(signer)).toMatchObject({ hasPending: true, lease: 'held' });
  });

  it('does not leave out one that was released for another reason', async () => {
    const signer = lab.freshSigner();
    await first.leases.release(first.id, [await acquire(first, signer)]);
    expect(await inWork(signer)).toEqual({ signer, hasPending: false, lease: 'free' });
  });
});
