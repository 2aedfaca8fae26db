import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parseHex } from '../../src/kernel/hex.js';
import { AttemptSigner } from '../../src/modules/transactions/application/attempt-signer.js';
import { TxQueries } from '../../src/modules/transactions/application/tx-views.js';
import { AttemptRepository } from '../../src/modules/transactions/domain/attempt.repository.js';
import { ManagedTx } from '../../src/modules/transactions/domain/managed-tx.js';
import { ManagedTxRepository } from '../../src/modules/transactions/domain/managed-tx.repository.js';
import { FencedUnitOfWork, LeaseManager } from '../../src/modules/signers/index.js';
import { Database } from '../../src/platform/database/database.js';
import { aRequest } from '../support/builders.js';
import { ModelChain, type ModelTx } from '../support/model-chain.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { TestNode } from '../support/test-node.js';

let database: TestDatabase;
let chain: ModelChain;
let node: TestNode;
let others: TestNode[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
  chain = new ModelChain();
  node = await TestNode.start(database.url, chain);
});

afterEach(async () => {
  await Promise.all([node, ...others].map((each) => each.close()));
  others = [];
  await database.drop();
});

async function another(): Promise<TestNode> {
  const next = await TestNode.start(database.url, chain);
  others.push(next);
  return next;
}

/** Creates a tx with a payload that is easy to find again on chain. */
async function create(tag: number, overrides: Parameters<typeof aRequest>[0] = {}): Promise<string> {
  const base = aRequest();
  const data = parseHex(`0x${tag.toString(16).padStart(8, '0')}`);
  const { txId } = await node.create({
    ...base,
    signer: node.signer(),
    requestId: `request-${tag}`,
    payload: { ...base.payload, data },
    ...overrides,
  });
  return txId;
}

function onChain(tag: number): ModelTx[] {
  return chain.minedTxs().filter(({ data }) => data === `0x${tag.toString(16).padStart(8, '0')}`);
}

async function confirmAll(by = node): Promise<void> {
  chain.mine();
  await by.follow();
  chain.mineEmpty(2);
  await by.follow();
}

async function reasons(txId: string): Promise<string[]> {
  const { rows } = await node
    .get(Database)
    .query<{ reason: string }>(
      { name: 'test_reasons', text: 'SELECT reason FROM tx_event WHERE tx_id = $1 ORDER BY seq' },
      [txId],
    );
  return rows.map((row) => row.reason);
}

describe('a lane', () => {
  it('takes a tx from PENDING to CONFIRMED and leaves its audit trail', async () => {
    const txId = await create(1);
    await node.step();
    expect(await node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', nonce: 0 });
    await confirmAll();
    expect(await node.tx(txId)).toMatchObject({ state: 'CONFIRMED', receipt: { status: 'success' } });
    expect(await reasons(txId)).toEqual(['queued', 'nonce_reserved', 'signed', 'sent', 'mined', 'confirmed']);
  });

  it('starts at the nonce of the chain, also when outside senders used the account before', async () => {
    const first = await create(1);
    await node.step();
    chain.mine();
    // A new deployment, with an empty database, on an account that is not new.
    const fresh = await createTestDatabase();
    const late = await TestNode.start(fresh.url, chain);
    const base = aRequest();
    const { txId } = await late.create({ ...base, signer: late.signer() });
    await late.step();
    expect(await late.tx(txId)).toMatchObject({ nonce: 1 });
    expect(await node.tx(first)).toMatchObject({ nonce: 0 });
    await late.close();
    await fresh.drop();
  });

  it('gives a batch consecutive nonces by priority, then by age', async () => {
    const low = await create(1, { priority: -1 });
    const normal = await create(2);
    const urgent = await create(3, { priority: 5 });
    await node.step();
    const nonces = await Promise.all([urgent, normal, low].map(async (txId) => (await node.tx(txId)).nonce));
    expect(nonces).toEqual([0, 1, 2]);
  });

  it('never has more than maxInFlight of a signer unmined', async () => {
    const narrow = await TestNode.start(database.url, chain, { execution: { maxInFlight: 2 } });
    others.push(narrow);
    for (const tag of [1, 2, 3]) await create(tag);
    await narrow.step();
    await narrow.step();
    expect(chain.pooled()).toHaveLength(2);
    chain.mine();
    await narrow.follow();
    await narrow.step();
    expect(chain.sent).toHaveLength(3);
  });

  it('ends a tx that would revert, with the reason, and burns no nonce', async () => {
    chain.faults.estimate = (call) =>
      call.data === '0x00000001' ? { kind: 'reverted', reason: 'Error: too poor' } : undefined;
    const poor = await create(1);
    const rich = await create(2);
    await node.step();
    expect(await node.tx(poor)).toMatchObject({
      state: 'FAILED',
      nonce: null,
      failureReason: 'execution reverted: Error: too poor',
    });
    expect(await node.tx(rich)).toMatchObject({ state: 'IN_MEMPOOL', nonce: 0 });
  });

  it('drops what expired before it was sent', async () => {
    const txId = await create(1, { expiresAt: new Date(0) });
    await node.step();
    expect(await node.tx(txId)).toMatchObject({ state: 'DROPPED', nonce: null });
  });

  it('fails a tx that is refused for good, and gives its nonce to the next payload', async () => {
    chain.faults.broadcast = (tx) =>
      tx.data === '0x00000001'
        ? { deliver: false, outcome: { kind: 'rejected', errorClass: 'oversized_data', message: 'oversized data' } }
        : undefined;
    const poison = await create(1);
    await node.step();
    expect(await node.tx(poison)).toMatchObject({ state: 'FAILED', failureReason: 'oversized data' });
    const next = await create(2);
    await node.step();
    expect(await node.tx(next)).toMatchObject({ state: 'IN_MEMPOOL', nonce: 0 });
  });

  it('fills the hole that a refused tx leaves in the middle of a batch', async () => {
    chain.faults.broadcast = (tx) =>
      tx.data === '0x00000002'
        ? { deliver: false, outcome: { kind: 'rejected', errorClass: 'oversized_data', message: 'oversized data' } }
        : undefined;
    const ids = [await create(1), await create(2), await create(3)];
    await node.step();
    await confirmAll();
    const states = await Promise.all(ids.map(async (txId) => (await node.tx(txId)).state));
    expect(states).toEqual(['CONFIRMED', 'FAILED', 'CONFIRMED']);
    expect(chain.minedTxs().map(({ nonce }) => nonce)).toEqual([0n, 1n, 2n]);
  });

  it('counts a tx as sent when the outcome is not known, and never signs another for it', async () => {
    chain.faults.broadcast = () => ({
      deliver: true,
      outcome: { kind: 'unknown', errorClass: 'transient', message: 'timeout' },
    });
    const txId = await create(1);
    await node.step();
    expect(await node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'OUTCOME_UNKNOWN', nonce: 0 });
    await confirmAll();
    expect(await node.tx(txId)).toMatchObject({ state: 'CONFIRMED', subState: null });
    expect(await node.get(TxQueries).attempts(txId)).toHaveLength(1);
  });

  it('waits without a nonce when the account cannot pay', async () => {
    chain.faults.estimate = () => ({ kind: 'insufficient_funds', message: 'insufficient funds' });
    const txId = await create(1);
    await node.step();
    expect(await node.tx(txId)).toMatchObject({ state: 'PENDING', subState: 'INSUFFICIENT_FUNDS', nonce: null });
  });

  it('keeps the nonce and sends the same bytes again when the account cannot pay at the send', async () => {
    chain.faults.broadcast = () => ({
      deliver: false,
      outcome: { kind: 'rejected', errorClass: 'insufficient_funds', message: 'insufficient funds' },
    });
    const txId = await create(1);
    await node.step();
    expect(await node.tx(txId)).toMatchObject({ state: 'ALLOCATED', subState: 'INSUFFICIENT_FUNDS', nonce: 0 });
    delete chain.faults.broadcast;
    await makeDue();
    await node.resubmit();
    await confirmAll();
    expect(await node.tx(txId)).toMatchObject({ state: 'CONFIRMED' });
    expect(new Set(chain.sent.map(({ hash }) => hash)).size).toBe(1);
  });

  it('sends the same bytes again when the pool forgot them', async () => {
    const txId = await create(1);
    await node.step();
    chain.dropPool();
    await makeDue();
    await node.resubmit();
    expect(await node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'STALE' });
    await confirmAll();
    expect(await node.tx(txId)).toMatchObject({ state: 'CONFIRMED', subState: null });
    expect(chain.sent.map(({ hash }) => hash)).toEqual([chain.sent[0]?.hash, chain.sent[0]?.hash]);
  });
});

/** As if the resubmit interval had passed. */
async function makeDue(): Promise<void> {
  await node.get(Database).query(
    {
      name: 'test_make_due',
      text: `UPDATE managed_tx SET next_resubmit_at = clock_timestamp() - interval '1 second', next_receipt_check_at = clock_timestamp() WHERE state IN ('ALLOCATED', 'IN_MEMPOOL')`,
    },
    [],
  );
}

/** Breaks one step of a lane from outside, as a crash there would: nothing after it happens. */
type CrashPoint = 'after allocate' | 'after sign' | 'after persist' | 'after broadcast' | 'before record';

function crash(point: CrashPoint): void {
  const die = (): never => {
    throw new Error(`crashed ${point}`);
  };
  if (point === 'after allocate') node.get(AttemptSigner).sign = die;
  if (point === 'after sign') node.get(AttemptRepository).insert = die;
  if (point === 'after persist') chain.broadcast = die;
  if (point === 'after broadcast') {
    const deliver = chain.broadcast.bind(chain);
    chain.broadcast = async (txs) => {
      await deliver(txs);
      return die();
    };
  }
  if (point === 'before record') node.get(AttemptRepository).recordOutcomes = die;
}

describe.each<CrashPoint>(['after allocate', 'after sign', 'after persist', 'after broadcast', 'before record'])(
  'a crash %s',
  (point) => {
    it('loses nothing and sends nothing twice: the next owner finishes with the same nonces', async () => {
      const ids = [await create(1), await create(2), await create(3)];
      const original = { broadcast: chain.broadcast };
      crash(point);
      await node.step().catch(() => undefined);
      chain.broadcast = original.broadcast;
      await node.releaseLeases();

      const successor = await another();
      await successor.step();
      await confirmAll(successor);
      for (const [index, txId] of ids.entries()) {
        expect(await successor.tx(txId)).toMatchObject({ state: 'CONFIRMED', nonce: index });
        expect(onChain(index + 1)).toHaveLength(1);
      }
    });
  },
);

describe('a lane that shares its step', () => {
  it('is not held up by a signer whose key fails', async () => {
    const base = aRequest();
    const ids = await Promise.all(
      [0, 1].map(async (index) => (await node.create({ ...base, signer: node.signer(index) })).txId),
    );
    const signer = node.get(AttemptSigner);
    const sign = signer.sign.bind(signer);
    signer.sign = async (drafts) => {
      if (drafts.some((draft) => draft.signer.address === node.signer(0).address))
        throw new Error('the vault is sealed');
      return sign(drafts);
    };
    await node.step(node.signer(0), node.signer(1));
    const states = await Promise.all(ids.map(async (txId) => (await node.tx(txId)).state));
    expect(states).toEqual(['ALLOCATED', 'IN_MEMPOOL']);
    // And when the vault is open again, nothing was lost.
    signer.sign = sign;
    await node.step(node.signer(0), node.signer(1));
    expect(await node.tx(ids[0] ?? '')).toMatchObject({ state: 'IN_MEMPOOL', nonce: 0 });
  });
});

describe('a reorg', () => {
  it('sends a tx back to the mempool, and it is confirmed in its new block', async () => {
    const txId = await create(1);
    await node.step();
    chain.mine();
    await node.follow();
    const before = await node.tx(txId);
    expect(before.state).toBe('MINED');
    chain.reorg(1);
    await node.follow();
    expect(await node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'REORG_DETECTED', receipt: null });
    await confirmAll();
    const after = await node.tx(txId);
    expect(after).toMatchObject({ state: 'CONFIRMED', nonce: 0 });
    expect(after.receipt?.blockHash).not.toBe(before.receipt?.blockHash);
    expect(onChain(1)).toHaveLength(1);
  });

  it('that loses the tx has it sent again, the same bytes', async () => {
    const txId = await create(1);
    await node.step();
    chain.mine();
    await node.follow();
    chain.reorg(1, { drop: true });
    await node.follow();
    await node.resubmit();
    await confirmAll();
    expect(await node.tx(txId)).toMatchObject({ state: 'CONFIRMED' });
    expect(new Set(chain.sent.map(({ hash }) => hash)).size).toBe(1);
  });

  it('is not seen in a node that merely lags', async () => {
    const txId = await create(1);
    await node.step();
    await node.follow();
    chain.mine();
    chain.mineEmpty(1);
    await node.follow();
    const head = chain.head.bind(chain);
    chain.head = async () => {
      const [block] = await chain.blocks([(await head()).number - 1]);
      return block ?? head();
    };
    await node.follow();
    expect(await node.tx(txId)).toMatchObject({ state: 'MINED' });
  });
});

describe('a refusal in doubt', () => {
  it('never reports a payload FAILED while it may be out: the chain decides', async () => {
    chain.faults.broadcast = () => ({
      deliver: true,
      outcome: { kind: 'unknown', errorClass: 'transient', message: 'timeout' },
    });
    const txId = await create(1);
    await node.step();
    chain.faults.broadcast = () => ({
      deliver: false,
      outcome: { kind: 'rejected', errorClass: 'gas_limit_exceeds_block', message: 'exceeds block gas limit' },
    });
    await makeDue();
    await node.resubmit();
    expect(await node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'CANCELLING', nonce: 0 });
    // The payload was in the pool all the time, and is mined.
    delete chain.faults.broadcast;
    await confirmAll();
    expect(await node.tx(txId)).toMatchObject({ state: 'CONFIRMED', failureReason: null });
    expect(onChain(1)).toHaveLength(1);
  });

  it('closes the slot with a no-op when the payload is not out, and the tx ends FAILED with the words of the node', async () => {
    chain.faults.broadcast = () => ({
      deliver: false,
      outcome: { kind: 'unknown', errorClass: 'transient', message: 'timeout' },
    });
    const txId = await create(1);
    await node.step();
    chain.faults.broadcast = (tx) =>
      tx.data === '0x'
        ? undefined
        : { deliver: false, outcome: { kind: 'rejected', errorClass: 'oversized_data', message: 'oversized data' } };
    const behind = await create(2, { payload: { ...aRequest().payload, data: parseHex('0x') } });
    await node.step();
    await makeDue();
    await node.resubmit();
    await makeDue();
    await node.resubmit();
    await confirmAll();
    expect(await node.tx(txId)).toMatchObject({ state: 'FAILED', failureReason: 'oversized data', nonce: 0 });
    expect(await node.tx(behind)).toMatchObject({ state: 'CONFIRMED', nonce: 1 });
    expect(onChain(1)).toHaveLength(0);
  });

  it('is what a refusal after a crash is: nobody knows whether the bytes went out before', async () => {
    const txId = await create(1);
    const record = node.get(AttemptRepository).recordOutcomes;
    node.get(AttemptRepository).recordOutcomes = () => Promise.reject(new Error('crashed'));
    await node.step().catch(() => undefined);
    node.get(AttemptRepository).recordOutcomes = record;
    chain.faults.broadcast = () => ({
      deliver: false,
      outcome: { kind: 'rejected', errorClass: 'execution_reverted', message: 'execution reverted: already claimed' },
    });
    await node.step();
    expect((await node.tx(txId)).state).toBe('IN_MEMPOOL');
    await confirmAll();
    expect(await node.tx(txId)).toMatchObject({ state: 'CONFIRMED' });
  });
});

describe('a fill', () => {
  /** Nonce 1 of three is refused for good, so it has to be filled. */
  async function withHole(): Promise<string[]> {
    chain.faults.broadcast = (tx) =>
      tx.data === '0x00000002'
        ? { deliver: false, outcome: { kind: 'rejected', errorClass: 'oversized_data', message: 'oversized data' } }
        : undefined;
    const ids = [await create(1), await create(2), await create(3)];
    await node.step();
    return ids;
  }

  it('is final only when its block is deep enough: a reorg that loses it has it sent again', async () => {
    const ids = await withHole();
    chain.mine();
    await node.follow();
    await node.step();
    chain.reorg(1, { drop: true });
    await node.follow();
    for (let round = 0; round < 3; round += 1) {
      await makeDue();
      await node.resubmit();
      // Holes are looked after once a second; another owner looks at once.
      await node.releaseLeases();
      node = await another();
      await node.step();
      chain.mine();
      await node.follow();
    }
    chain.mineEmpty(3);
    await node.follow();
    expect(await Promise.all(ids.map(async (txId) => (await node.tx(txId)).state))).toEqual([
      'CONFIRMED',
      'FAILED',
      'CONFIRMED',
    ]);
  });

  it('that is refused for good is signed anew, with the gas that the chain asks for', async () => {
    let refusals = 0;
    chain.faults.broadcast = (tx) => {
      if (tx.data === '0x00000002')
        return {
          deliver: false,
          outcome: { kind: 'rejected', errorClass: 'oversized_data', message: 'oversized data' },
        };
      if (tx.data !== '0x' || refusals > 0) return undefined;
      refusals += 1;
      return {
        deliver: false,
        outcome: { kind: 'rejected', errorClass: 'intrinsic_gas_too_low', message: 'intrinsic gas too low' },
      };
    };
    for (const tag of [1, 2, 3]) await create(tag);
    await node.step();
    chain.faults.estimate = () => ({ kind: 'ok', gas: 40_000n });
    const successor = await takeOver();
    await successor.step();
    expect(
      chain
        .pooled()
        .map(({ nonce }) => nonce)
        .sort(),
    ).toEqual([0n, 1n, 2n]);
  });
});

/** The next owner knows nothing but what is written. */
async function takeOver(): Promise<TestNode> {
  await node.releaseLeases();
  return another();
}

describe('one request', () => {
  it('with a fee cap below the base fee waits without a nonce, and holds up nobody', async () => {
    const cheap = await create(1, { fees: { maxFeePerGas: 1n, maxPriorityFeePerGas: null } });
    const normal = await create(2);
    await node.step();
    expect(await node.tx(cheap)).toMatchObject({ state: 'PENDING', subState: 'FEE_CAPPED', nonce: null });
    expect(await node.tx(normal)).toMatchObject({ state: 'IN_MEMPOOL', nonce: 0 });
  });

  it('that the balance does not cover waits without a nonce, and holds up nobody', async () => {
    const payload = { ...aRequest().payload, value: 10n ** 30n, gasLimit: 21_000n };
    const dear = await create(1, { payload });
    const normal = await create(2);
    await node.step();
    expect(await node.tx(dear)).toMatchObject({ state: 'PENDING', subState: 'INSUFFICIENT_FUNDS', nonce: null });
    expect(await node.tx(normal)).toMatchObject({ state: 'IN_MEMPOOL', nonce: 0 });
  });

  it('that cannot be estimated gives way to those behind it', async () => {
    const narrow = await TestNode.start(database.url, chain, { execution: { maxInFlight: 1 } });
    others.push(narrow);
    chain.faults.estimate = (call) =>
      call.data === '0x00000001' ? { kind: 'unavailable', message: 'invalid argument 0' } : undefined;
    const strange = await create(1);
    const normal = await create(2);
    await narrow.step();
    await narrow.step();
    expect(await narrow.tx(strange)).toMatchObject({ state: 'PENDING' });
    expect(await narrow.tx(normal)).toMatchObject({ state: 'IN_MEMPOOL' });
  });
});

describe('a gap', () => {
  it('of blocks that nobody looked at has the receipts of everything in flight asked for', async () => {
    const txId = await create(1);
    await node.step();
    chain.mine();
    chain.mineEmpty(1);
    // The first look of this node is at a block after that of the tx.
    await node.follow();
    expect((await node.tx(txId)).state).toBe('IN_MEMPOOL');
    await node.checkReceipts();
    expect((await node.tx(txId)).state).toBe('MINED');
  });
});

describe('a block', () => {
  it('whose receipts the node does not have yet is asked about again at once', async () => {
    const txId = await create(1);
    await create(2);
    await node.step();
    chain.mine();
    chain.blockReceipts = async () => null;
    await node.follow();
    expect((await node.tx(txId)).state).toBe('IN_MEMPOOL');
    await node.checkReceipts();
    expect((await node.tx(txId)).state).toBe('MINED');
  });

  it('below the first one that a node followed is no reorg', async () => {
    const txId = await create(1);
    await node.step();
    chain.mine();
    const late = await another();
    await node.releaseLeases();
    await late.step();
    await late.checkReceipts();
    expect((await late.tx(txId)).state).toBe('MINED');
    const head = chain.head.bind(chain);
    await late.follow();
    chain.head = async () => {
      const [block] = await chain.blocks([(await head()).number - 1]);
      return block ?? head();
    };
    await late.follow();
    expect((await late.tx(txId)).state).toBe('MINED');
  });
});

describe('a takeover', () => {
  it('finds what was mined while nobody looked', async () => {
    const txId = await create(1);
    await node.step();
    chain.mine();
    await node.releaseLeases();
    const successor = await another();
    // It starts to follow the chain after that block.
    chain.mineEmpty(1);
    await successor.follow();
    await successor.step();
    await successor.checkReceipts();
    chain.mineEmpty(2);
    await successor.follow();
    expect(await successor.tx(txId)).toMatchObject({ state: 'CONFIRMED' });
  });

  it('leaves the old owner unable to write: its step changes nothing', async () => {
    const txId = await create(1);
    await node.step();
    // The lease goes to another node behind the back of this one.
    await node
      .get(Database)
      .query({ name: 'test_expire', text: `UPDATE signer_lease SET expires_at = '-infinity'` }, []);
    const successor = await another();
    await successor.step();
    const late = await create(2);
    await node.step();
    expect(await node.tx(late)).toMatchObject({ state: 'PENDING', nonce: null });
    await successor.step();
    expect(await successor.tx(late)).toMatchObject({ state: 'IN_MEMPOOL', nonce: 1 });
    expect(await successor.tx(txId)).toMatchObject({ nonce: 0 });
  });
});

describe('the repository', () => {
  it('refuses to save an outdated copy, and writes nothing of the batch', async () => {
    const [first, second] = [await create(1), await create(2)];
    await node.step();
    const repository = node.get(ManagedTxRepository);
    const [stale] = await repository.byIds([first]);
    const [fresh] = await repository.byIds([second]);
    const lease = node.get(LeaseManager).held(node.signer());
    if (!stale || !fresh || !lease) throw new Error('the set-up is broken');
    const save = (...txs: ManagedTx[]): Promise<void> =>
      node.get(FencedUnitOfWork).run([lease], 'test', (fence) => {
        for (const tx of txs) tx.receiptMissing(1);
        return repository.save(fence, txs);
      });
    await save(ManagedTx.rehydrate(stale.progress));
    await expect(save(fresh, stale)).rejects.toMatchObject({ code: 'stale_copy' });
    const [after] = await repository.byIds([second]);
    expect(after?.progress.version).toBe(fresh.progress.version);
  });
});
