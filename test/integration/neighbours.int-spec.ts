import { beforeEach, describe, expect, it } from '@jest/globals';
import { ANYONE, type Caller } from '../../src/kernel/caller.js';
import { Unavailable } from '../../src/kernel/errors.js';
import type { Address } from '../../src/kernel/hex.js';
import { AuthorizationTurns } from '../../src/modules/nonces/application/authorization-turns.js';
import { FencedUnitOfWork, LeaseManager, SignerWorkers } from '../../src/modules/signers/index.js';
import { WriteChanges } from '../../src/modules/ledger/index.js';
import { type NewTx, TxIntake } from '../../src/modules/ledger/index.js';
import { IntakeBatcher } from '../../src/modules/requests/application/intake-batcher.js';
import { Database } from '../../src/platform/database/database.js';
import { signerKey } from '../../src/kernel/signer-id.js';
import { anAddress, aRequest, DEV_CHAIN } from '../support/builders.js';
import { makeDue, nodeLab } from '../support/node-lab.js';
import { RaceLab } from '../support/race-lab.js';
import { tagged } from '../support/send-faults.js';
import type { TestNode } from '../support/test-node.js';
import { TxWriter } from '../../src/modules/ledger/domain/tx-writer.js';

const lab = nodeLab();
const race = new RaceLab(lab);

/** Txs of one signer in flight, with the tags `first` and so on. */
async function inFlight(node: TestNode, signer: number, first: number, count: number): Promise<string[]> {
  const base = aRequest();
  const ids: string[] = [];
  for (let tag = first; tag < first + count; tag += 1) {
    const payload = { ...base.payload, data: tagged(tag) };
    ids.push((await node.create({ ...base, signer: node.signer(signer), requestId: `r${tag}`, payload })).txId);
  }
  await node.step(node.signer(signer));
  return ids;
}

describe('resends', () => {
  it('of bytes that exist wait for no price, and those of one signer keep no other waiting', async () => {
    const { node } = lab;
    const lists = await Promise.all([0, 1, 2, 3].map((n) => inFlight(node, n, n * 100, 64)));
    const [neighbour = ''] = await inFlight(node, 4, 5_000, 1);
    for (const [first = ''] of lists) await race.cancel(first);
    await node.commands();
    lab.chain.dropPool();
    const quote = lab.chain.feeQuote.bind(lab.chain);
    lab.chain.feeQuote = () => Promise.reject(new Unavailable('rpc_unavailable', 'no endpoint quotes fees', 'later'));
    await makeDue(node);
    await node.get(Database).query(
      {
        name: 'test_longer_due',
        text: `UPDATE managed_tx SET next_resubmit_at = next_resubmit_at - interval '1 minute' WHERE tx_id <> $1`,
      },
      [neighbour],
    );
    const sentAgain = () => new Set(lab.chain.sent.slice(before).map(({ data }) => data));
    const before = lab.chain.sent.length;
    await node.resubmit().catch(() => undefined);
    expect(sentAgain()).toContain(tagged(5_000));
    for (let n = 0; n < 8; n += 1) await node.resubmit().catch(() => undefined);
    // All but the four that are being cancelled, whose no-ops need a price.
    expect(sentAgain().size).toBe(4 * 63 + 1);
    lab.chain.feeQuote = quote;
    await lab.resubmit();
    expect(sentAgain().size).toBeGreaterThan(4 * 63 + 1);
  });
});

describe('an authority', () => {
  const wants = (signers: readonly { readonly address: Address }[]) =>
    signers.map(({ address }) => ({ authority: address, chainId: BigInt(DEV_CHAIN), address: anAddress(0xc0de) }));
  const run = (text: string): Promise<unknown> => lab.node.get(Database).query({ name: '', text }, []);

  let wanted = 0;
  async function delegating(...authorities: readonly number[]): Promise<string> {
    const { node } = lab;
    const base = aRequest();
    const payload = { ...base.payload, authorizationList: wants(authorities.map((n) => node.signer(n))) };
    const requestId = `delegating-${(wanted += 1)}`;
    return (await node.create({ ...base, signer: node.signer(0), requestId, payload })).txId;
  }

  /** How many of so many seconds the signer is held back, while the lane of the sender looks at its tx every other second. */
  async function heldBack(authority: number, seconds: number): Promise<number> {
    const { node } = lab;
    Object.assign(node.get(AuthorizationTurns), { clock: node.laneClock });
    let held = 0;
    for (let second = 0; second < seconds; second += 1) {
      node.laneClock.advance(1_000);
      await run(
        `UPDATE tx_authorization SET due_at = due_at - interval '1 second', granted_at = granted_at - interval '1 second'`,
      );
      await run(
        `UPDATE managed_tx SET next_resubmit_at = next_resubmit_at - interval '1 second' WHERE state = 'PENDING'`,
      );
      await node.authorizations();
      if (second % 2 === 0) await node.step(node.signer(0));
      if (node.get(AuthorizationTurns).isHeldBack(node.signer(authority))) held += 1;
    }
    return held;
  }

  beforeEach(() => lab.node.step(...[0, 1, 2].map((n) => lab.node.signer(n))));

  it('is not held back for a tx that waits for another authority, which is paused', async () => {
    const { node } = lab;
    await run(`INSERT INTO signer_pause (chain_id, signer, by) VALUES (0, '${node.signer(2).address}', 'op')`);
    await delegating(1, 2);
    expect(await heldBack(1, 20)).toBe(0);
  });

  it('is not held back for a tx whose sender cannot pay', async () => {
    const { node } = lab;
    const poor = node.signer(0).address;
    lab.chain.balances = async (accounts) => accounts.map((account) => (account === poor ? 0n : 10n ** 21n));
    const txId = await delegating(1);
    expect(await heldBack(1, 20)).toBe(0);
    expect(await node.tx(txId)).toMatchObject({ state: 'PENDING', subState: 'INSUFFICIENT_FUNDS' });
  });

  it('is held back for half of the time at most, and one turn, for txs that never get their nonces', async () => {
    lab.chain.faults.estimate = () => ({ kind: 'unclear', message: 'what?' });
    for (let n = 0; n < 4; n += 1) await delegating(1);
    const held = await heldBack(1, 240);
    expect(held).toBeGreaterThan(60);
    expect(held).toBeLessThanOrEqual(240 / 2 + 31);
  });
});

describe('a balance', () => {
  it('that no endpoint tells holds up the payloads of its signer alone', async () => {
    const { node } = lab;
    const tell = lab.chain.balances.bind(lab.chain);
    lab.chain.balances = (accounts) =>
      accounts.includes(node.signer(0).address) ? new Promise(() => undefined) : tell(accounts);
    const create = async (n: number) =>
      (await node.create({ ...aRequest(), signer: node.signer(n), requestId: `r${n}` })).txId;
    const [untold, told] = [await create(0), await create(1)];
    await node.step(node.signer(0), node.signer(1));
    expect(await node.tx(told)).toMatchObject({ state: 'IN_MEMPOOL' });
    expect(await node.tx(untold)).toMatchObject({ state: 'PENDING', subState: 'NODE_UNAVAILABLE' });
  });
});

describe('commands', () => {
  it('of one signer that cannot be carried out keep no other signer waiting', async () => {
    const { node } = lab;
    const poor = (await Promise.all([0, 1, 2, 3].map((n) => inFlight(node, n, n * 100, 51)))).flat();
    for (const [at, txId] of poor.entries())
      await race.replace(txId, 1_000 + at, { signer: node.signer(Math.floor(at / 51)) });
    const [neighbour = ''] = await inFlight(node, 4, 5_000, 1);
    await race.cancel(neighbour);
    lab.chain.faults.estimate = () => ({ kind: 'insufficient_funds', message: 'insufficient funds' });
    await node.commands();
    expect((await race.commandsOf(neighbour)).map(({ status }) => status)).toEqual(['DONE']);
    const [first = ''] = poor;
    expect(await race.commandsOf(first)).toMatchObject([{ status: 'QUEUED', tries: 1 }]);
  });

  it('wait for the chain outside of the worker of their signer, and leave it to others between a few of them', async () => {
    const node = await lab.startNode({ worker: { concurrency: 1 } });
    const ids = await inFlight(node, 0, 0, 60);
    await inFlight(node, 1, 5_000, 1);
    for (const [at, txId] of ids.entries()) await race.replace(txId, 1_000 + at, {}, node);
    const estimate = lab.chain.estimateGas.bind(lab.chain);
    let answer = (): void => undefined;
    const asked = new Promise<void>((resolve) => {
      lab.chain.estimateGas = async (calls) => {
        resolve();
        await new Promise<void>((go) => (answer = go));
        return estimate(calls);
      };
    });
    const turn = (): Promise<void> =>
      node
        .get(SignerWorkers)
        .forChain(DEV_CHAIN)
        .run(signerKey(node.signer(1)), () => Promise.resolve());
    const commands = node.commands();
    await asked;
    await turn();
    const sentBefore = lab.chain.sent.length;
    answer();
    // The neighbour comes while the first ones are in the lane.
    while (lab.chain.sent.length === sentBefore) await new Promise(setImmediate);
    await turn();
    expect(lab.chain.sent.length - sentBefore).toBeLessThanOrEqual(16);
    await commands;
    expect(lab.chain.sent.length - sentBefore).toBe(60);
  });
});

describe('followers of signers that share a worker', () => {
  let node: TestNode;
  let ids: string[];
  /** From now on, what is written for the first signer times out. */
  const breakFirst = (): (() => void) => {
    const repository = node.get(TxWriter);
    const save = repository.save.bind(repository);
    repository.save = async (fence, txs) => {
      if (txs.some((tx) => tx.signer.address === node.signer(0).address))
        throw new Unavailable('database_unavailable', 'statement timeout', 'try again');
      return save(fence, txs);
    };
    return () => void (repository.save = save);
  };

  beforeEach(async () => {
    node = await lab.startNode({ worker: { concurrency: 1 } });
    const signers = [node.signer(0), node.signer(1), node.signer(2)];
    ids = [];
    for (const signer of signers) ids.push((await node.create({ ...aRequest(), signer })).txId);
    await node.step(...signers);
  });

  it('record what was mined for all but the one in trouble, and that one when its trouble is over', async () => {
    const mend = breakFirst();
    await lab.mine(node);
    expect(await lab.states(ids)).toEqual(['IN_MEMPOOL', 'MINED', 'MINED']);
    mend();
    lab.chain.mineEmpty(3);
    await node.follow();
    await makeDue(node);
    await node.checkReceipts();
    lab.chain.mineEmpty(1);
    await node.follow();
    expect((await lab.states(ids)).slice(1)).toEqual(['CONFIRMED', 'CONFIRMED']);
  });

  it('make final what is deep enough for all but the one in trouble', async () => {
    await lab.mine(node);
    breakFirst();
    lab.chain.mineEmpty(3);
    await node.follow();
    expect(await lab.states(ids)).toEqual(['MINED', 'CONFIRMED', 'CONFIRMED']);
  });

  it('follow the chain again from the same block when nothing could be written', async () => {
    const repository = node.get(TxWriter);
    const save = repository.save.bind(repository);
    repository.save = async () => {
      throw new Unavailable('database_unavailable', 'no connection', 'try again');
    };
    lab.chain.mine();
    await expect(node.follow()).rejects.toThrow();
    repository.save = save;
    await node.follow();
    expect(await lab.states(ids)).toEqual(['MINED', 'MINED', 'MINED']);
  });
});

/** More than two pages of one signer, and a few of another whose receipts are not asked for. */
const INSERT_IN_FLIGHT = {
  name: 'test_in_flight',
  text: `
    INSERT INTO managed_tx (tx_id, chain_id, signer, request_id, request_hash, value, data, options, priority, state, nonce, tx_hash)
    SELECT gen_random_uuid(), $1, $2, 'flying-' || n, h.hash, 0, '', '{"speed": "standard"}', 0, 'IN_MEMPOOL', n, h.hash
      FROM generate_series(1, $3::int) AS n, (SELECT '0x' || repeat('f', 64) AS hash) AS h`,
};

it('asks for the receipts of very many in transactions of a few thousand each', async () => {
  const { node } = lab;
  const database = node.get(Database);
  const [asked, other] = [node.signer(0), node.signer(1)];
  await database.query(INSERT_IN_FLIGHT, [DEV_CHAIN, asked.address, 12_000]);
  await database.query(INSERT_IN_FLIGHT, [DEV_CHAIN, other.address, 10]);
  const unitOfWork = node.get(FencedUnitOfWork);
  const run = unitOfWork.run.bind(unitOfWork);
  let transactions = 0;
  unitOfWork.run = (leases, operation, work) => {
    transactions += 1;
    return run(leases, operation, work);
  };
  await node.get(WriteChanges).receiptsDue(await node.get(LeaseManager).acquireOrRenew([asked]), 'test');
  const { rows } = await database.query<{ signer: string; due: string }>(
    {
      name: 'test_due',
      text: `SELECT signer, count(*) FILTER (WHERE next_receipt_check_at <= clock_timestamp()) AS due FROM managed_tx GROUP BY signer`,
    },
    [],
  );
  expect(new Map(rows.map(({ signer, due }) => [signer, Number(due)]))).toEqual(
    new Map([
      [asked.address, 12_000],
      [other.address, 0],
    ]),
  );
  expect(transactions).toBe(3);
});

describe('requests', () => {
  const FLOOD = 5_000;
  const caller = (last: string): Caller => ({ ...ANYONE, account: `019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8${last}` });
  const [FLOODING, OTHER] = [caller('b'), caller('c')];

  /** Of each request of the other account: how many inserts begin from when it is queued to the one that has it. */
  async function waits(node: TestNode, ...ids: readonly number[]): Promise<number[]> {
    const [batcher, intake] = [node.get(IntakeBatcher), node.get(TxIntake)];
    const [submit, insertPending] = [batcher.submit.bind(batcher), intake.insertPending.bind(intake)];
    let inserts = 0;
    let queuedAt = 0;
    const waited: number[] = [];
    const isOfOther = ({ request }: NewTx): boolean => request.sender === OTHER;
    batcher.submit = (tx, ...rest) => {
      if (isOfOther(tx)) queuedAt = inserts;
      return submit(tx, ...rest);
    };
    intake.insertPending = (txs) => {
      inserts += 1;
      if (txs.some(isOfOther)) waited.push(inserts - queuedAt);
      return insertPending(txs);
    };
    for (const n of ids)
      await node.create({ ...aRequest(), signer: node.signer(1), requestId: `other-${n}`, sender: OTHER });
    Object.assign(batcher, { submit });
    Object.assign(intake, { insertPending });
    return waited;
  }

  it('of one account that floods the intake have those of another in the next insert', async () => {
    const { node } = lab;
    expect(await waits(node, 1, 2, 3)).toEqual([1, 1, 1]);
    const flood = Array.from({ length: FLOOD }, (_, n) =>
      node.create({ ...aRequest(), signer: node.signer(0), requestId: `flood-${n}`, sender: FLOODING }),
    );
    let stored = 0;
    for (const one of flood) void one.then(() => (stored += 1));
    const beside = await waits(node, 4, 5, 6);
    // It began behind all of them, and was done before them.
    expect(stored).toBeLessThan(FLOOD);
    expect(beside).toEqual([1, 1, 1]);
    await Promise.all(flood);
  });
});
