import { randomUUID } from 'node:crypto';
import { ANYONE, type CallerLimits, limitedTo, type Viewer } from '../../src/kernel/caller.js';
import type { TxFilter } from '../../src/modules/ledger/application/views/tx-views.js';
import type { TxState } from '../../src/modules/ledger/domain/tx-state-machine.js';
import { DataSource } from 'typeorm';
import { afterAll, describe, expect, it } from '@jest/globals';
import { TxEventEntity } from '../../src/modules/events/infrastructure/typeorm-tx-history.js';
import { PgEventLog } from '../../src/modules/events/infrastructure/pg-event-log.js';
import { TypeormTxHistory } from '../../src/modules/events/infrastructure/typeorm-tx-history.js';
import { ManagedTxEntity } from '../../src/modules/ledger/infrastructure/managed-tx.entity.js';
import { TxAttemptEntity } from '../../src/modules/ledger/infrastructure/tx-attempt.entity.js';
import { TypeormTxQueries } from '../../src/modules/ledger/infrastructure/typeorm-tx-queries.js';
import type { SignerId } from '../../src/kernel/signer-id.js';
import { aHash, anAddress, aSigner, DEV_CHAIN } from '../support/builders.js';
import { SilentEventBell } from '../support/fakes/silent-event-bell.js';
import { storedRows, txIdOf } from '../support/stored-rows.js';

const stored = await storedRows();
const { database } = stored.node;
const entities = [ManagedTxEntity, TxAttemptEntity, TxEventEntity];
const source = await new DataSource({ ...database.dataSource.options, entities }).initialize();
// Before those of the lab, which ends its database.
afterAll(() => source.destroy());

let served = true;
const queries = new TypeormTxQueries(
  source.getRepository(ManagedTxEntity),
  source.getRepository(TxAttemptEntity),
  database,
  { isServed: () => served } as never,
);
const history = new TypeormTxHistory(source.getRepository(TxEventEntity));

const OURS = aSigner(1);
const OTHER = aSigner(2);
const ids = (...numbers: readonly number[]): string[] => numbers.map(txIdOf);
const list = async (filter: object, limit = 50): Promise<string[]> =>
  (await queries.list({ kind: 'payload', limit, ...filter }, ANYONE)).items.map(({ txId }) => txId);

/** Of both signers on two chains, one PENDING, one IN_MEMPOOL and one CONFIRMED: 1 to 3, 11 to 13, 21 to 23, 31 to 33. */
async function crowd(): Promise<void> {
  const groups = [
    [0, DEV_CHAIN, OURS],
    [10, DEV_CHAIN, OTHER],
    [20, 7, OURS],
    [30, 7, OTHER],
  ] as const;
  for (const [base, chain_id, { address }] of groups) {
    await stored.put('signer', { chain_id, address, custody: '{}' });
    for (const [i, state] of ['PENDING', 'IN_MEMPOOL', 'CONFIRMED'].entries())
      await stored.putTx(base + i + 1, { state, chain_id, signer: address });
  }
}

describe('a list of txs', () => {
  it.each([
    ['all', {}, [33, 32, 31, 23, 22, 21, 13, 12, 11, 3, 2, 1]],
    ['of a chain', { chainId: DEV_CHAIN }, [13, 12, 11, 3, 2, 1]],
    ['of a signer', { signer: OURS.address }, [23, 22, 21, 3, 2, 1]],
    ['of a state', { state: 'CONFIRMED' }, [33, 23, 13, 3]],
    ['of a state in flight', { state: 'IN_MEMPOOL' }, [32, 22, 12, 2]],
    ['of a chain and a signer', { chainId: 7, signer: OTHER.address }, [33, 32, 31]],
    ['of a chain and a state', { chainId: DEV_CHAIN, state: 'PENDING' }, [11, 1]],
    ['of all three', { chainId: DEV_CHAIN, signer: OURS.address, state: 'IN_MEMPOOL' }, [2]],
  ])('%s has those, newest first, whole and in pages', async (_, filter, expected) => {
    await crowd();
    expect(await list(filter)).toEqual(ids(...expected));
    const found: string[] = [];
    // A page too many, lest a list without end hang here.
    for (let before: string | null | undefined; before !== null && found.length <= expected.length;) {
      const page = await queries.list(
        {
          kind: 'payload',
          limit: 1,
          ...filter,
          ...(before === undefined ? {} : { before }),
        } as never,
        ANYONE,
      );
      expect(page.items).toHaveLength(1);
      found.push(...page.items.map(({ txId }) => txId));
      before = page.nextBefore;
    }
    expect(found).toEqual(ids(...expected));
  });
});

describe('a list of whoever is limited', () => {
  const elsewhere = { ...OURS, chainId: 7 };
  const account = randomUUID();

  it.each<[string, CallerLimits, Partial<TxFilter>, number[]]>([
    ['a chain', limitedTo(null, [7]), {}, [33, 32, 31, 23, 22, 21]],
    ['chains', limitedTo(null, [7, DEV_CHAIN]), { state: 'PENDING' }, [31, 21, 11, 1]],
    ['a chain, of a state', limitedTo(null, [7]), { state: 'CONFIRMED' }, [33, 23]],
    ['a chain, of another one', limitedTo(null, [7]), { chainId: DEV_CHAIN }, []],
    ['a chain, of a signer', limitedTo(null, [7]), { signer: OURS.address }, [23, 22, 21]],
    ['a signer', limitedTo([OURS], null), {}, [3, 2, 1]],
    ['signers', limitedTo([OURS, elsewhere], null), {}, [23, 22, 21, 3, 2, 1]],
    ['signers, of a chain', limitedTo([OURS, elsewhere], null), { chainId: 7 }, [23, 22, 21]],
    ['signers, of a state', limitedTo([OURS, elsewhere], null), { state: 'IN_MEMPOOL' }, [22, 2]],
    ['a signer, of another one', limitedTo([OURS], null), { signer: OTHER.address }, []],
    ['a signer, of another chain', limitedTo([OURS], null), { chainId: 7, signer: OURS.address }, []],
    ['nothing', limitedTo([], null), {}, []],
  ])('to %s has no others', async (_, only, filter, expected) => {
    await crowd();
    const seen = async (viewer: Viewer): Promise<string[]> =>
      (await queries.list({ kind: 'payload', limit: 50, ...filter }, viewer)).items.map(({ txId }) => txId);
    expect(await seen({ ...ANYONE, only })).toEqual(ids(...expected));
    for (const number of [1, 2, 3, 11, 12, 13, 21, 22, 23, 31, 32, 33]) {
      const isSeen = (await queries.find(txIdOf(number), { ...ANYONE, only })) !== null;
      if (Object.keys(filter).length === 0) expect([number, isSeen]).toEqual([number, expected.includes(number)]);
    }
    await stored.lab.observer.run(`UPDATE managed_tx SET account_id = '${account}'`);
    expect(await seen({ account, only })).toEqual(ids(...expected));
  });
});

describe('one tx', () => {
  it('is found by its id, with all that is known of it', async () => {
    await stored.putTx(1);
    await stored.putTx(2, {
      state: 'CONFIRMED',
      to_address: anAddress(9),
      data: '\\xabcd',
      priority: 4,
      confirmations: 6,
      gas_limit: 21_000,
      metadata: '{"order":7}',
      options: '{"speed":"fast","gasLimit":"30000"}',
      last_error: 'busy',
      expires_at: `'2030-01-01Z'`,
      last_submit_at: `'2030-01-02Z'`,
      next_resubmit_at: `'2030-01-03Z'`,
      confirmed_at: `'2030-01-04Z'`,
      created_at: `'2030-01-05Z'`,
      updated_at: `'2030-01-06Z'`,
    });
    const iso = (day: number): string => `2030-01-0${day}T00:00:00.000Z`;
    expect(await queries.find(txIdOf(2), ANYONE)).toMatchObject({
      txId: txIdOf(2),
      chainId: DEV_CHAIN,
      signer: OURS.address,
      requestId: 'request-2',
      state: 'CONFIRMED',
      subState: null,
      lastError: 'busy',
      txHash: aHash(2),
      payload: { to: anAddress(9), value: '2', data: '0xabcd', gasLimit: '30000' },
      speed: 'fast',
      priority: 4,
      confirmations: 6,
      metadata: { order: 7 },
      gasLimit: '21000',
      receipt: { blockNumber: 2, blockHash: aHash(2) },
      expiresAt: iso(1),
      lastSubmitAt: iso(2),
      nextResubmitAt: iso(3),
      confirmedAt: iso(4),
      createdAt: iso(5),
      updatedAt: iso(6),
    });
    expect(Number((await queries.find(txIdOf(2), ANYONE))?.nonce)).toBe(2);
    expect(await queries.find(txIdOf(3), ANYONE)).toBeNull();
  });

  it('is found by its key, on its chain and of its signer', async () => {
    await stored.putTx(1, { request_id: 'a', chain_id: 7 });
    await stored.putTx(2, { request_id: 'a', signer: OTHER.address });
    await stored.putTx(3, { request_id: 'b' });
    await stored.putTx(4, { request_id: 'a' });
    expect((await queries.findByRequest({ chainId: 7, address: OURS.address }, 'a', ANYONE))?.txId).toBe(txIdOf(1));
    expect((await queries.findByRequest({ chainId: DEV_CHAIN, address: OTHER.address }, 'a', ANYONE))?.txId).toBe(
      txIdOf(2),
    );
    expect((await queries.findByRequest({ chainId: DEV_CHAIN, address: OURS.address }, 'a', ANYONE))?.txId).toBe(
      txIdOf(4),
    );
    expect(await queries.findByRequest({ chainId: DEV_CHAIN, address: OURS.address }, 'c', ANYONE)).toBeNull();
  });

  it('says that no node serves its signer, as long as it is not final', async () => {
    await stored.putTx(1, { sub_state: 'STALE' });
    await stored.putTx(2, { state: 'CONFIRMED' });
    served = false;
    const told = [await queries.find(txIdOf(1), ANYONE), await queries.find(txIdOf(2), ANYONE)];
    served = true;
    expect(told.map((view) => view?.subState)).toEqual(['SIGNER_UNAVAILABLE', null]);
    expect((await queries.find(txIdOf(1), ANYONE))?.subState).toBe('STALE');
  });

  it('has its attempts, oldest first, and no others', async () => {
    const put = (n: number, tx: number, at: string): Promise<void> =>
      stored.put('tx_attempt', {
        chain_id: DEV_CHAIN,
        tx_hash: aHash(n),
        signer: OURS.address,
        nonce: 3,
        tx_id: txIdOf(tx),
        kind: 'payload',
        raw: '\\x',
        gas_limit: 21_000,
        max_fee_per_gas: 20,
        max_priority_fee_per_gas: 2,
        status: 'REJECTED',
        error_class: 'underpriced',
        last_error: 'too low',
        fencing_token: 1,
        created_at: at,
      });
    await put(1, 1, `'2030-01-02Z'`);
    await put(4, 1, `'2030-01-01Z'`);
    await put(3, 1, `'2030-01-01Z'`);
    await put(2, 2, `'2030-01-01Z'`);
    const found = await queries.attempts(txIdOf(1));
    expect(found.map(({ txHash }) => txHash)).toEqual([3, 4, 1].map(aHash));
    expect(found[0]).toMatchObject({
      kind: 'payload',
      status: 'REJECTED',
      gasLimit: '21000',
      maxFeePerGas: '20',
      maxPriorityFeePerGas: '2',
      errorClass: 'underpriced',
      lastError: 'too low',
      createdAt: '2030-01-01T00:00:00.000Z',
      lastSentAt: null,
    });
  });
});

it('the states of very many txs are told in several statements, those that the caller does not know', async () => {
  await stored.putTx(1);
  await stored.putTx(2, { state: 'CONFIRMED' });
  await stored.putTx(3);
  const many = Array.from({ length: 10_000 }, (_, i) => txIdOf(100_000 + i));
  const known = new Map<string, TxState | null>([txIdOf(1), ...many, txIdOf(2)].map((txId) => [txId, null]));
  known.set(txIdOf(3), 'PENDING').set(txIdOf(2), 'MINED');
  expect([...(await queries.changedStates(known))]).toEqual([
    [txIdOf(1), 'PENDING'],
    [txIdOf(2), 'CONFIRMED'],
  ]);
});

describe('the history of a tx', () => {
  const author = { nodeId: 'first', tokenFor: ({ address }: SignerId) => (address === OURS.address ? 5n : 8n) };
  const anEvent = (n: number, tx: number) => ({
    signer: OURS,
    txId: txIdOf(tx),
    reason: 'sent' as const,
    from: 'ALLOCATED',
    to: 'IN_MEMPOOL',
    txHash: aHash(n),
    block: { number: n, hash: aHash(n + 100) },
    error: `error ${n}`,
    detail: { n },
  });

  it('has its events in the order in which they were written, with all that was said', async () => {
    await database.transaction((tx) =>
      new PgEventLog(new SilentEventBell()).append(tx, author, [anEvent(3, 1), anEvent(1, 2), anEvent(2, 1)] as never),
    );
    const found = await history.of(txIdOf(1));
    expect(found).toMatchObject([{ txHash: aHash(3) }, { txHash: aHash(2) }]);
    expect(found[0]).toMatchObject({
      time: expect.any(String),
      reason: 'sent',
      fromState: 'ALLOCATED',
      toState: 'IN_MEMPOOL',
      nodeId: 'first',
      fencingToken: '5',
      blockNumber: 3,
      blockHash: aHash(103),
      error: 'error 3',
      detail: { n: 3 },
    });
    expect(await stored.read(`SELECT DISTINCT chain_id FROM tx_event`)).toEqual([{ chain_id: `${DEV_CHAIN}` }]);
    const [first] = found;
    expect(await history.of(txIdOf(1), { after: first?.seq ?? '', limit: 10 })).toHaveLength(1);
    expect(await history.of(txIdOf(1), { after: '0', limit: 1 })).toEqual([first]);
  });

  it('names the lease of its own signer, also where events of several signers are written at once', async () => {
    await database.transaction((tx) =>
      new PgEventLog(new SilentEventBell()).append(tx, author, [anEvent(1, 1), { ...anEvent(2, 2), signer: OTHER }]),
    );
    const tokens = await Promise.all([1, 2].map(async (n) => (await history.of(txIdOf(n)))[0]?.fencingToken));
    expect(tokens).toEqual(['5', '8']);
  });
});

it('tells which of some txs are of an account', async () => {
  const [shop, bank] = ['1', '2'].map((digit) => `00000000-0000-0000-0000-00000000000${digit}`) as [string, string];
  await stored.putTx(1, { account_id: shop });
  await stored.putTx(2, { account_id: bank });
  await stored.putTx(3, { account_id: shop });
  expect(await queries.ofAccount(ids(1, 2, 4), shop)).toEqual(new Set(ids(1)));
  expect(await queries.ofAccount([], shop)).toEqual(new Set());
});
