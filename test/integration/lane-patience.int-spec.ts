import { describe, expect, it } from '@jest/globals';
import { TxQueries } from '../../src/modules/ledger/application/views/tx-views.js';
import { AttemptRepository } from '../../src/modules/ledger/domain/attempt.repository.js';
import { Router } from '../../src/modules/signers/index.js';
import { SyncSigner } from '../../src/modules/nonces/application/sync-signer.js';
import { Database } from '../../src/platform/database/database.js';
import { aRequest } from '../support/builders.js';
import { makeWaitingDue, nodeLab } from '../support/node-lab.js';
import { NOT_SENT, onlyFor, OVERSIZED, refused, refusedByOne, tagged, timedOut } from '../support/send-faults.js';
import type { TestNode } from '../support/test-node.js';
import { NO_FEES } from '../../src/modules/ledger/domain/tx-request.js';

const lab = nodeLab();
const ETHER = 10n ** 18n;
const OVERSIZED_SAYS_ONE = refusedByOne('oversized_data', 'oversized data');

describe('a payload over the fee cap of the node', () => {
  const overCap = (data: string, cost: bigint) =>
    data === tagged(1) && cost > ETHER
      ? refused('node_fee_cap_exceeded', `tx fee (${cost} wei) exceeds the configured cap (${ETHER} wei)`)
      : undefined;

  it('is signed again for less, and mined', async () => {
    const gasLimit = 400_000_000n;
    const base = aRequest();
    lab.chain.faults.broadcast = ({ data, maxFeePerGas }) => overCap(data, maxFeePerGas * gasLimit);
    const txId = await lab.create(1, { payload: { ...base.payload, data: tagged(1), gasLimit } });
    const behind = await lab.create(2);
    await lab.node.step();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'ALLOCATED', subState: 'NODE_REFUSED' });
    await lab.live(2);
    expect(await lab.states([txId, behind])).toEqual(['CONFIRMED', 'CONFIRMED']);
  });

  it('takes no nonce when the node said before what it allows, and nothing fits', async () => {
    const base = aRequest();
    const payload = { ...base.payload, data: tagged(1), gasLimit: 2_000_000_000n };
    lab.chain.faults.broadcast = ({ data, maxFeePerGas }) => overCap(data, maxFeePerGas * payload.gasLimit);
    await lab.create(1, { payload });
    await lab.node.step();
    const next = await lab.create(3, { payload: { ...payload, data: tagged(3) } });
    await lab.node.step();
    expect(await lab.node.tx(next)).toMatchObject({ state: 'PENDING', subState: 'NODE_REFUSED', nonce: null });
  });

  it('fails after so many equal refusals, and what is behind it is mined', async () => {
    lab.chain.faults.broadcast = onlyFor(1, refused('node_fee_cap_exceeded', 'Transaction fee cap exceeded'));
    const ids = [await lab.create(1), await lab.create(2), await lab.create(3)];
    await lab.live(14);
    expect(await lab.states(ids)).toEqual(['FAILED', 'CONFIRMED', 'CONFIRMED']);
    expect((await lab.node.tx(ids[0] ?? '')).failureReason).toContain('Transaction fee cap exceeded');
    expect(lab.minedWith(1)).toHaveLength(0);
  });
});

describe('a payload that was accepted once', () => {
  it('and is refused for good ever after has its slot closed, and the chain decides', async () => {
    const ids = [await lab.create(1), await lab.create(2)];
    await lab.node.step();
    lab.chain.dropPool();
    lab.chain.faults.broadcast = onlyFor(1, refused('terminally_stuck', 'out of counters at node level (Steps)'));
    await lab.live(4);
    expect(await lab.states(ids)).toEqual(['FAILED', 'CONFIRMED']);
    expect(lab.minedWith(1)).toHaveLength(0);
  });

  it('is not closed on the word of one endpoint at one block', async () => {
    const txId = await lab.sent(1);
    lab.chain.dropPool();
    lab.chain.faults.broadcast = onlyFor(1, OVERSIZED_SAYS_ONE);
    await lab.resubmit();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'NODE_REFUSED' });
    await lab.resubmit();
    expect((await lab.node.tx(txId)).subState).toBe('NODE_REFUSED');
    lab.chain.mineEmpty();
    await lab.resubmit();
    expect((await lab.node.tx(txId)).subState).toBe('REFUSED');
  });
});

describe('a payload that one endpoint alone refuses for good', () => {
  it('fails only when a look at a later block says the same', async () => {
    lab.chain.faults.broadcast = onlyFor(1, OVERSIZED_SAYS_ONE);
    const txId = await lab.sent(1);
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'ALLOCATED', subState: 'NODE_REFUSED' });
    lab.chain.mineEmpty();
    await lab.resubmit();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'REFUSED' });
    await lab.resubmit();
    await lab.confirmAll();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'FAILED', failureReason: 'oversized data', nonce: 0 });
  });

  it('is sent when it was wrong once', async () => {
    let refusals = 1;
    lab.chain.faults.broadcast = ({ data }) => (data === tagged(1) && refusals-- > 0 ? OVERSIZED_SAYS_ONE : undefined);
    const txId = await lab.sent(1);
    await lab.live(2);
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
  });
});

describe('what has no answer', () => {
  it('is sent again also when resubmission is off', async () => {
    await lab.node.releaseLeases();
    const node = await lab.startNode({ resubmit: { enabled: false } });
    lab.chain.faults.broadcast = onlyFor(1, timedOut({ deliver: false }));
    const ids = [await lab.create(1), await lab.create(2)];
    await node.step();
    delete lab.chain.faults.broadcast;
    expect((await node.tx(ids[0] ?? '')).nextResubmitAt).not.toBeNull();
    expect((await node.tx(ids[1] ?? '')).nextResubmitAt).toBeNull();
    await lab.live(2, node);
    expect(await lab.states(ids, node)).toEqual(['CONFIRMED', 'CONFIRMED']);
  });

  it('waits seconds, and keeps its proof, when it surely never left', async () => {
    lab.chain.faults.broadcast = () => NOT_SENT;
    const txId = await lab.sent(1);
    const { state, subState, nextResubmitAt } = await lab.node.tx(txId);
    expect({ state, subState }).toEqual({ state: 'ALLOCATED', subState: 'NODE_UNAVAILABLE' });
    expect(Date.parse(nextResubmitAt ?? '') - Date.now()).toBeLessThan(5_000);
    await lab.resubmit();
    expect(await lab.node.get(TxQueries).attempts(txId)).toMatchObject([{ status: 'UNSENT' }]);
    await lab.cancelUnsent(txId);
    expect(await lab.states([txId])).toEqual(['CANCELLED']);
    delete lab.chain.faults.broadcast;
    const next = await lab.sent(2);
    expect(await lab.node.tx(next)).toMatchObject({ state: 'IN_MEMPOOL', nonce: 0 });
  });

  it('is no proof any more when it left at last, whatever the node says then', async () => {
    lab.chain.faults.broadcast = () => NOT_SENT;
    const txId = await lab.sent(1);
    lab.chain.faults.broadcast = onlyFor(1, OVERSIZED);
    await lab.resubmit();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'REFUSED', nonce: 0 });
    await lab.live(2);
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'FAILED', failureReason: 'oversized data', nonce: 0 });
  });

  it('does not count while nothing gets through: an outage ends no payload', async () => {
    lab.chain.faults.broadcast = () => timedOut({ deliver: false });
    const txId = await lab.sent(1);
    for (let round = 0; round < 12; round += 1) await lab.resubmit();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'OUTCOME_UNKNOWN' });
    delete lab.chain.faults.broadcast;
    await lab.live(2);
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
  });
});

describe('an attempt that could not be stored', () => {
  it('is signed by the next step', async () => {
    const attempts = lab.node.get(AttemptRepository);
    const insert = attempts.insert.bind(attempts);
    let failures = 2;
    attempts.insert = async (fence, some) => {
      if (failures-- > 0) throw Object.assign(new Error('could not extend file: no space left'), { code: 'XX000' });
      return insert(fence, some);
    };
    const txId = await lab.create(1);
    for (let step = 0; step < 4; step += 1) await lab.node.step();
    expect(await lab.states([txId])).toEqual(['IN_MEMPOOL']);
  });
});

describe('the balance', () => {
  it('is less by what is in flight: what cannot be paid with the rest takes no nonce', async () => {
    const pay = (tag: number, value: bigint) => ({
      payload: { ...aRequest().payload, data: tagged(tag), value, gasLimit: 21_000n },
    });
    lab.chain.balances = async (accounts) => accounts.map(() => 10n * ETHER);
    await lab.create(1, pay(1, 9n * ETHER));
    await lab.node.step();
    // Another owner knows nothing but what is written.
    const next = await lab.takeOver();
    const second = await lab.create(2, pay(2, 9n * ETHER));
    const third = await lab.create(3, pay(3, 0n));
    await next.step();
    expect(await next.tx(second)).toMatchObject({ state: 'PENDING', subState: 'INSUFFICIENT_FUNDS' });
    expect(await next.tx(third)).toMatchObject({ state: 'PENDING', subState: null });
  });

  const NO_FUNDS = refused('insufficient_funds', 'insufficient funds for gas * price + value');

  it('that runs out after a nonce was taken lets the payload wait with it, however often it is refused, for a top-up', async () => {
    const rich = lab.chain.balances;
    lab.chain.faults.broadcast = onlyFor(1, NO_FUNDS);
    const ids = [await lab.create(1), await lab.create(2)];
    await lab.node.step();
    lab.chain.balances = async (accounts) => accounts.map(() => 1n);
    await lab.live(30);
    expect(await lab.node.tx(ids[0] ?? '')).toMatchObject({
      state: 'ALLOCATED',
      subState: 'INSUFFICIENT_FUNDS',
      nonce: 0,
      failureReason: null,
      lastError: NO_FUNDS.outcome.kind === 'rejected' ? NO_FUNDS.outcome.message : '',
    });
    expect(lab.chain.minedTxs()).toEqual([]);
    lab.chain.balances = rich;
    delete lab.chain.faults.broadcast;
    await lab.live(2);
    expect(await lab.states(ids)).toEqual(['CONFIRMED', 'CONFIRMED']);
    expect(lab.chain.minedTxs().map(({ data }) => data)).toEqual([tagged(1), tagged(2)]);
  });

  it('that covers what nodes call unaffordable holds up nobody: the payload gets another nonce, and is mined when it is taken', async () => {
    lab.chain.faults.broadcast = onlyFor(1, NO_FUNDS);
    const ids = [await lab.create(1), await lab.create(2)];
    await lab.live(12);
    expect((await lab.states(ids))[1]).toBe('CONFIRMED');
    expect(await lab.node.tx(ids[0] ?? '')).toMatchObject({ failureReason: null });
    delete lab.chain.faults.broadcast;
    await lab.live(2);
    expect(await lab.states(ids)).toEqual(['CONFIRMED', 'CONFIRMED']);
    expect(lab.minedWith(1)).toHaveLength(1);
  });
});

describe('an estimate that reverts', () => {
  it('ends nothing by itself: it is asked again at a later block', async () => {
    let reverts = 1;
    lab.chain.faults.estimate = () =>
      reverts-- > 0 ? { kind: 'reverted', reason: 'ERC20: transfer amount exceeds balance' } : undefined;
    const txId = await lab.create(1);
    await lab.node.step();
    expect(await lab.node.tx(txId)).toMatchObject({
      state: 'PENDING',
      subState: 'SIMULATION_REVERTED',
      lastError: 'execution reverted: ERC20: transfer amount exceeds balance',
    });
    await lab.live(2);
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
  });

  it('is not believed twice at the same block', async () => {
    lab.chain.faults.estimate = onlyFor(1, { kind: 'reverted', reason: 'no' });
    const txId = await lab.create(1);
    for (let look = 0; look < 3; look += 1) {
      await lab.node.step();
      await makeWaitingDue(lab.node);
    }
    expect(await lab.states([txId])).toEqual(['PENDING']);
  });

  it('waits for what the signer sent before it: a swap reverts until its approval is mined', async () => {
    const approval = await lab.create(1);
    const swap = await lab.create(2);
    lab.chain.faults.estimate = ({ data }) =>
      data === tagged(2) && lab.minedWith(1).length === 0 ? { kind: 'reverted', reason: 'not approved' } : undefined;
    for (let look = 0; look < 4; look += 1) {
      await lab.node.step();
      await makeWaitingDue(lab.node);
      lab.chain.mineEmpty();
    }
    await lab.live(3);
    expect(await lab.states([approval, swap])).toEqual(['CONFIRMED', 'CONFIRMED']);
  });
});

describe('a market above the caps of the chain', () => {
  it('is paid by nobody: what waits is FEE_CAPPED and takes no nonce', async () => {
    const honest = lab.chain.feeQuote.bind(lab.chain);
    lab.chain.feeQuote = async () => {
      const tip = 10n ** 15n;
      return { ...(await honest()), tips: { slow: tip, standard: tip, fast: tip, urgent: tip } };
    };
    const txId = await lab.sent(1);
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'PENDING', subState: 'FEE_CAPPED', nonce: null });
    expect(lab.chain.sent).toEqual([]);
    lab.chain.feeQuote = honest;
    await lab.live(2);
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
  });

  it('is not followed by a fill, which is sent at the caps', async () => {
    await lab.gap();
    await makeDear();
    await lab.node.step();
    expect(dearest()).toBeLessThan(10n ** 13n);
    expect(nonces()).toEqual([0, 1, 2]);
  });

  it('is not followed by the no-op that closes a slot, which is sent at the caps', async () => {
    lab.chain.faults.broadcast = onlyFor(2, OVERSIZED_SAYS_ONE);
    const ids = [await lab.create(1), await lab.create(2), await lab.create(3)];
    await lab.node.step();
    lab.chain.mineEmpty();
    await makeDear();
    await lab.resubmit();
    await lab.resubmit();
    expect(await lab.node.tx(ids[1] ?? '')).toMatchObject({ state: 'IN_MEMPOOL', subState: 'REFUSED' });
    expect(dearest()).toBeLessThan(10n ** 13n);
    expect(nonces()).toEqual([0, 1, 2]);
    await lab.confirmAll();
    expect(await lab.states(ids)).toEqual(['CONFIRMED', 'FAILED', 'CONFIRMED']);
  });

  async function makeDear(): Promise<void> {
    const quote = await lab.chain.feeQuote();
    lab.chain.feeQuote = async () => ({ ...quote, baseFeePerGas: 10n ** 16n });
  }

  /** Wei per gas, of all that was ever sent. */
  function dearest(): bigint {
    return lab.chain.sent.reduce((most, { maxFeePerGas }) => (maxFeePerGas > most ? maxFeePerGas : most), 0n);
  }

  function nonces(): number[] {
    return lab.chain
      .pooled()
      .map(({ nonce }) => Number(nonce))
      .sort();
  }
});

describe('the nonce of the chain', () => {
  it('raises no cursor by one count that is too high', async () => {
    const honest = lab.chain.transactionCounts.bind(lab.chain);
    let lies = 2;
    lab.chain.transactionCounts = async (accounts, tag) =>
      (await honest(accounts, tag)).map((count) => (lies-- > 0 ? count + 100n : count));
    const txId = await lab.create(1);
    await lab.stepTwice();
    expect(await lab.node.tx(txId)).toMatchObject({ nonce: 0, state: 'IN_MEMPOOL' });
  });

  it('is asked for an account that was used before', async () => {
    await lab.node.releaseLeases();
    lab.chain.sendForeign(lab.node.signer().address, 0n);
    lab.chain.mine();
    const node = await lab.startNode();
    const txId = await lab.create(1);
    await lab.stepTwice(node);
    expect(await node.tx(txId)).toMatchObject({ nonce: 1 });
  });
});

describe('txs that are retried', () => {
  it('starve nobody, wait longer each time, and end when they can never work', async () => {
    await lab.node.releaseLeases();
    const node = await lab.startNode({ execution: { maxInFlight: 1 } }, ({ execution }) =>
      Object.assign(execution, { giveUpAfter: 10_000 }),
    );
    lab.chain.faults.estimate = ({ data }) =>
      data === tagged(0x63) ? undefined : { kind: 'unclear', message: 'no words for this' };
    const bad = [await lab.create(1), await lab.create(2), await lab.create(3)];
    const good = await lab.create(0x63);
    for (let step = 0; step < 4; step += 1) await node.step();
    expect(await lab.states([good], node)).toEqual(['IN_MEMPOOL']);
    const pauses = await Promise.all([1, 2].map(() => nextPause(node, bad[0] ?? '')));
    expect(pauses[1]).toBeGreaterThan((pauses[0] ?? 0) * 1.5);
    await lab.live(10, node);
    expect(await lab.states(bad, node)).toEqual(['FAILED', 'FAILED', 'FAILED']);
  });
});

describe('a signer whose key no live node has', () => {
  function removed(node: TestNode): void {
    const { address } = node.signer();
    node.get(Router).membership(['a', 'b'], { canSign: (_, signer) => signer.address !== address, alike: [] });
  }

  it('is refused at intake, with a code, and nothing is stored', async () => {
    removed(lab.node);
    await expect(lab.create(1)).rejects.toMatchObject({ code: 'signer_unavailable', retryable: true });
    const { rows } = await lab.node.get(Database).query({ name: 'test_none', text: 'SELECT FROM managed_tx' }, []);
    expect(rows).toHaveLength(0);
  });

  it('has what waits for it say so, and what was stored before is found', async () => {
    const txId = await lab.create(1);
    removed(lab.node);
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'PENDING', subState: 'SIGNER_UNAVAILABLE' });
    expect(await lab.create(1)).toBe(txId);
  });
});

describe('fees above the caps of the chain', () => {
  it('are refused at intake, with a code', async () => {
    const fees = { ...NO_FEES, maxFeePerGas: 10n ** 13n };
    await expect(lab.create(1, { fees })).rejects.toMatchObject({ code: 'fees_above_cap', retryable: false });
  });
});

describe('a person who aligns a signer', () => {
  it('raises the cursor to what the endpoints agree on, and sees the proof', async () => {
    lab.chain.sendForeign(lab.node.signer().address, 0n);
    lab.chain.mine();
    const report = await lab.node.get(SyncSigner).execute(lab.node.signer(), 1_000);
    expect(report).toMatchObject({
      chain: { nonce: 1n, block: { number: 1 } },
      cursor: { before: null, after: 1n },
      recovered: [],
    });
    const txId = await lab.sent(1);
    expect(await lab.node.tx(txId)).toMatchObject({ nonce: 1, state: 'IN_MEMPOOL' });
  });

  it('gets out of a gap of any size, a piece at each call', async () => {
    const honest = lab.chain.agreedCounts.bind(lab.chain);
    const told = lab.chain.transactionCounts.bind(lab.chain);
    lab.chain.agreedCounts = async (...asked) =>
      (await honest(...asked)).map((count) => count && { ...count, nonce: 150n });
    lab.chain.transactionCounts = async (accounts) => accounts.map(() => 150n);
    const txId = await lab.create(1);
    await lab.stepTwice();
    lab.chain.agreedCounts = honest;
    lab.chain.transactionCounts = told;
    expect(await lab.node.tx(txId)).toMatchObject({ nonce: 150 });
    const sync = lab.node.get(SyncSigner);
    expect((await sync.execute(lab.node.signer(), 100)).gap).toEqual({ freed: 100, remaining: 50 });
    expect((await sync.execute(lab.node.signer(), 100)).gap).toEqual({ freed: 50, remaining: 0 });
    await lab.live(3);
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
    expect(lab.chain.minedTxs()).toHaveLength(151);
  });
});

async function nextPause(node: TestNode, txId: string): Promise<number> {
  await makeWaitingDue(node);
  await node.step();
  const { rows } = await node.get(Database).query<{ ms: number }>(PAUSE, [txId]);
  return rows[0]?.ms ?? 0;
}

const PAUSE = {
  name: 'test_pause',
  text: `SELECT extract(epoch FROM next_resubmit_at - updated_at)::float8 * 1000 AS ms FROM managed_tx WHERE tx_id = $1`,
};
