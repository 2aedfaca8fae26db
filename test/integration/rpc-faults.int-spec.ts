import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningAnvil, startAnvil } from '../support/anvil.js';
import { RpcLab } from '../support/rpc-lab.js';
import { type RpcFault, RpcProxy } from '../support/rpc-proxy.js';
import { until } from '../support/until.js';

/*
 * Lines 3, 4, 7 and 17 of the fault catalogue, on a real chain. Each test proves that its fault happened: the proxy counts
 * the answers it spoilt, and the chain is asked what it really has.
 */

const SEND = 'eth_sendRawTransaction';
const RECEIPT = 'eth_getTransactionReceipt';
const BLOCK_RECEIPTS = 'eth_getBlockReceipts';
const INDEXING = { kind: 'refuse', code: -32000, message: 'transaction indexing is in progress' } as const;

let folder: string;
let anvil: RunningAnvil;
let proxy: RpcProxy;
let lab: RpcLab;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lockstep-faults-'));
  anvil = await startChain();
  proxy = await RpcProxy.listen(anvil.url);
  lab = await RpcLab.open({ chainUrl: anvil.url, rpcUrls: [proxy.url], rpcTimeout: 1_000 });
});

afterEach(async () => {
  await lab.close();
  await proxy.stop();
  await anvil.stop();
  rmSync(folder, { recursive: true, force: true });
});

function startChain(port?: number): Promise<RunningAnvil> {
  return startAnvil({
    stateFile: join(folder, 'state.json'),
    extraArgs: ['--no-mining'],
    ...(port === undefined ? {} : { port }),
  });
}

async function pooled(): Promise<unknown> {
  return lab.ask('txpool_status');
}

const subStateOf = async (txId: string) => (await lab.node.tx(txId)).subState;

/** Line 3. */
describe('an RPC that takes a tx, and then', () => {
  const FAULTS: { name: string; fault: RpcFault; errorClass: string }[] = [
    { name: 'times out', fault: { kind: 'silence' }, errorClass: 'transient' },
    { name: 'resets the connection', fault: { kind: 'reset' }, errorClass: 'transient' },
    { name: 'answers 502', fault: { kind: 'status', status: 502 }, errorClass: 'transient' },
    { name: 'answers 429', fault: { kind: 'status', status: 429 }, errorClass: 'rate_limited' },
    { name: 'answers with the wrong hash', fault: { kind: 'wrong-hash' }, errorClass: 'hash_mismatch' },
  ];

  it.each(FAULTS)('$name, has it in doubt: it counts as sent, and is mined once', async ({ fault, errorClass }) => {
    // Without an answer each of the two is sent again alone, until a lone one loses its connection.
    const times = errorClass !== 'transient' ? 1 : fault.kind === 'reset' ? 2 : 3;
    proxy.fail(SEND, fault, times);
    const txIds = await lab.sent(1, 2);
    // The lane waits for two seconds of these, and then goes on.
    await until('the sends are over', async () => proxy.faults === times);
    expect(await pooled()).toMatchObject({ pending: '0x2' });
    expect(await Promise.all(txIds.map(subStateOf))).toEqual(['OUTCOME_UNKNOWN', 'OUTCOME_UNKNOWN']);
    expect(await lab.attempts(txIds[0] ?? '')).toMatchObject([{ nonce: 0, status: 'UNKNOWN', errorClass }]);
    // The next payload gets the next nonce, not theirs, and is sent when those have an answer.
    const [behind = ''] = await lab.sent(3);
    expect(await lab.node.tx(behind)).toMatchObject({ nonce: 2 });
    await until('the next payload is sent', async () => {
      await lab.resubmit();
      return (await lab.node.tx(behind)).state === 'IN_MEMPOOL';
    });
    await lab.confirmAll();
    expect(await lab.states([...txIds, behind])).toEqual(['CONFIRMED', 'CONFIRMED', 'CONFIRMED']);
    expect(await lab.timesOnChain(1, 2, 3)).toEqual([1, 1, 1]);
  });

  it.each(FAULTS)('$name, is sent the same bytes again, and nothing else', async ({ fault }) => {
    proxy.fail(SEND, fault, 1);
    const [txId = ''] = await lab.sent(1);
    await lab.resubmit();
    expect(proxy.faults).toBe(1);
    expect(proxy.sent).toHaveLength(2);
    expect(new Set(proxy.sent.map(({ raw }) => raw)).size).toBe(1);
    expect(await lab.attempts(txId)).toMatchObject([{ status: 'ACCEPTED', errorClass: 'already_known' }]);
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', nonce: 0 });
  });
});

/** Line 4, for what our own attempts do; the test of a foreign tx is another. */
describe('a nonce that is too low', () => {
  it('because the tx was mined while the node did not look leads to its receipt, not to a new tx', async () => {
    proxy.fail(SEND, { kind: 'silence' }, 1);
    const [txId = ''] = await lab.sent(1);
    await lab.mine();
    await lab.resubmit();
    expect(await lab.attempts(txId)).toMatchObject([{ errorClass: 'nonce_too_low' }]);
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', nonce: 0 });
    await expectMinedWhenFollowed(txId);
    await lab.confirmAll();
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
    expect(await lab.timesOnChain(1)).toEqual([1]);
  });

  it('for a later attempt because an earlier one of ours was mined makes the earlier one the winner', async () => {
    proxy.fail(SEND, { kind: 'silence' }, 1);
    const [txId = ''] = await lab.sent(1);
    // Refused for good when it is already out: the slot is to be closed with a no-op, a later attempt.
    proxy.fail(SEND, { kind: 'refuse', code: -32000, message: 'exceeds block gas limit' }, 2);
    await lab.resubmit();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'NODE_REFUSED' });
    await mineWithout(txId);
    await lab.resubmit();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'REFUSED' });
    await lab.mine();
    await lab.resubmit();
    const [payload, noOp, ...more] = await lab.attempts(txId);
    expect(more).toEqual([]);
    expect(noOp).toMatchObject({ nonce: 0, errorClass: 'nonce_too_low' });
    expect(noOp?.txHash).not.toBe(payload?.txHash);
    await expectMinedWhenFollowed(txId);
    await lab.confirmAll();
    const tx = await lab.node.tx(txId);
    expect(tx).toMatchObject({ state: 'CONFIRMED', failureReason: null, receipt: { txHash: payload?.txHash } });
    expect((await lab.attempts(txId)).map(({ status }) => status)).toEqual(['MINED', 'LOST']);
    expect(await lab.timesOnChain(1)).toEqual([1]);
  });
});

/** A block that leaves a transaction in the pool. */
async function mineWithout(txId: string): Promise<void> {
  const { txHash } = await lab.node.tx(txId);
  const raw = await lab.ask('eth_getRawTransactionByHash', txHash);
  await lab.ask('anvil_dropTransaction', txHash);
  await lab.mine();
  await lab.ask('eth_sendRawTransaction', raw);
}

/** Line 7. */
describe('a mempool', () => {
  it('that is full refuses for now: the nonce stays, and the same bytes go in when there is room', async () => {
    proxy.fail(SEND, { kind: 'refuse', code: -32000, message: 'txpool is full' });
    const txIds = await lab.sent(1, 2);
    expect(await pooled()).toMatchObject({ pending: '0x0' });
    expect(await lab.states(txIds)).toEqual(['ALLOCATED', 'ALLOCATED']);
    await lab.resubmit();
    expect(proxy.faults).toBe(2);
    const [first = '', second = ''] = txIds;
    expect(await lab.attempts(first)).toMatchObject([{ nonce: 0, errorClass: 'txpool_full' }]);
    expect(await lab.attempts(second)).toMatchObject([{ nonce: 1, errorClass: 'txpool_full' }]);
    proxy.heal();
    await lab.resubmit();
    await lab.confirmAll();
    expect(await lab.states(txIds)).toEqual(['CONFIRMED', 'CONFIRMED']);
    expect(new Set(proxy.sent.map(({ raw }) => raw)).size).toBe(2);
    expect(await lab.timesOnChain(1, 2)).toEqual([1, 1]);
  });

  it('that a restart of the node has emptied gets everything again', async () => {
    const txIds = await lab.sent(1, 2, 3);
    const { port } = anvil;
    await anvil.stop();
    anvil = await startChain(port);
    expect(await pooled()).toMatchObject({ pending: '0x0' });
    await lab.mine();
    await lab.node.follow();
    expect(await lab.states(txIds)).toEqual(['IN_MEMPOOL', 'IN_MEMPOOL', 'IN_MEMPOOL']);
    await lab.resubmit();
    expect(await pooled()).toMatchObject({ pending: '0x3' });
    await lab.confirmAll();
    expect(await lab.states(txIds)).toEqual(['CONFIRMED', 'CONFIRMED', 'CONFIRMED']);
    expect(await lab.timesOnChain(1, 2, 3)).toEqual([1, 1, 1]);
  });

  it('that drops a tx without a word gets it again, and those behind it are mined, too', async () => {
    const txIds = await lab.sent(1, 2, 3);
    const { txHash } = await lab.node.tx(txIds[0] ?? '');
    await lab.ask('anvil_dropTransaction', txHash);
    await lab.mine();
    await lab.node.follow();
    expect(await lab.states(txIds)).toEqual(['IN_MEMPOOL', 'IN_MEMPOOL', 'IN_MEMPOOL']);
    await lab.resubmit();
    await lab.confirmAll();
    expect(await lab.states(txIds)).toEqual(['CONFIRMED', 'CONFIRMED', 'CONFIRMED']);
    expect((await lab.node.tx(txIds[0] ?? '')).txHash).toBe(txHash);
    expect(await lab.timesOnChain(1, 2, 3)).toEqual([1, 1, 1]);
  });
});

/** Neither by hash nor by block: else the receipts of the block count (unindexed-txs.int-spec.ts). */
const NOT_YET: RpcFault = { kind: 'rewrite', result: () => null };

/** Line 17. */
describe('a receipt', () => {
  it.each<{ name: string; fault: RpcFault; again: 'soon' | 'in its time' }>([
    { name: 'fails because transactions are being indexed', fault: INDEXING, again: 'soon' },
    { name: 'is answered with 502', fault: { kind: 'status', status: 502 }, again: 'soon' },
    { name: 'is answered with a reset', fault: { kind: 'reset' }, again: 'soon' },
    { name: 'is never answered', fault: { kind: 'silence' }, again: 'soon' },
    { name: 'is not a receipt', fault: { kind: 'rewrite', result: () => 'soon' }, again: 'soon' },
    { name: 'has no block', fault: { kind: 'rewrite', result: withoutBlock }, again: 'in its time' },
    { name: 'says that there is none', fault: { kind: 'rewrite', result: () => null }, again: 'in its time' },
  ])('whose query $name changes nothing, and is asked for again $again', async ({ fault, again }) => {
    const [txId = ''] = await lab.sent(1);
    await lab.mine();
    proxy.fail(RECEIPT, fault);
    proxy.fail(BLOCK_RECEIPTS, NOT_YET);
    await lab.node.follow();
    expect(await lab.states([txId])).toEqual(['IN_MEMPOOL']);
    await lab.checkReceipts();
    expect(proxy.faults).toBeGreaterThanOrEqual(2);
    expect(await lab.states([txId])).toEqual(['IN_MEMPOOL']);
    expect(await lab.isAskedAgainSoon(txId)).toBe(again === 'soon');
    proxy.heal();
    await lab.checkReceipts();
    expect(await lab.states([txId])).toEqual(['MINED']);
    expect(await lab.timesOnChain(1)).toEqual([1]);
  });

  it.each<{ name: string; fault: RpcFault }>([
    { name: 'fails because transactions are being indexed', fault: INDEXING },
    { name: 'is answered with 502', fault: { kind: 'status', status: 502 } },
    { name: 'has receipts of another block', fault: { kind: 'rewrite', result: inAnotherBlock } },
  ])('of a block whose query $name is asked for by hash, and the chain is followed meanwhile', async ({ fault }) => {
    const txIds = await lab.sent(1, 2);
    await lab.mine();
    proxy.fail(BLOCK_RECEIPTS, fault);
    await lab.node.follow();
    expect(proxy.faults).toBeGreaterThanOrEqual(1);
    expect(await lab.states(txIds)).toEqual(['IN_MEMPOOL', 'IN_MEMPOOL']);
    await lab.node.checkReceipts();
    expect(await lab.states(txIds)).toEqual(['MINED', 'MINED']);
  });
});

/** Line 17: two endpoints that do not agree. The first of the list is asked first. */
describe('of two RPCs', () => {
  let other: RpcProxy;

  beforeEach(async () => {
    other = await RpcProxy.listen(anvil.url);
    await lab.close();
    lab = await RpcLab.open({ chainUrl: anvil.url, rpcUrls: [proxy.url, other.url], rpcTimeout: 1_000 });
  });

  afterEach(() => other.stop());

  it('one still indexes its transactions: the receipt comes from the other, at once', async () => {
    const [txId = ''] = await lab.sent(1);
    await lab.mine();
    proxy.fail(RECEIPT, INDEXING);
    await lab.node.follow();
    expect(proxy.faults).toBe(1);
    expect(await lab.states([txId])).toEqual(['MINED']);
  });

  it('one has no receipt yet: the tx waits, and is not taken for lost', async () => {
    const [txId = ''] = await lab.sent(1);
    await lab.mine();
    proxy.fail(RECEIPT, NOT_YET);
    proxy.fail(BLOCK_RECEIPTS, NOT_YET);
    await lab.node.follow();
    await lab.checkReceipts();
    expect(proxy.faults).toBe(3);
    expect(await lab.states([txId])).toEqual(['IN_MEMPOOL']);
    proxy.heal();
    await lab.checkReceipts();
    await lab.confirmAll();
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
    expect(await lab.timesOnChain(1)).toEqual([1]);
  });

  it('one has it in another block, and reverted: nothing becomes of that, since the block is not on the chain', async () => {
    const [txId = ''] = await lab.sent(1);
    await lab.mine();
    proxy.fail(RECEIPT, { kind: 'rewrite', result: (receipt) => ({ ...inOneOtherBlock(receipt), status: '0x0' }) });
    await lab.checkReceipts();
    await lab.confirmAll();
    await lab.checkReceipts();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', receipt: null });
    proxy.heal();
    await lab.checkReceipts();
    await lab.mine();
    await lab.node.follow();
    const { hash } = (await lab.ask('eth_getBlockByNumber', '0x1', false)) as { hash: string };
    expect(await lab.node.tx(txId)).toMatchObject({
      state: 'CONFIRMED',
      receipt: { status: 'success', blockHash: hash },
    });
  });
});

/** A block that is not followed yet may be only announced. */
async function expectMinedWhenFollowed(txId: string): Promise<void> {
  await lab.node.checkReceipts();
  expect(await lab.states([txId])).toEqual(['IN_MEMPOOL']);
  await lab.node.follow();
  expect(await lab.states([txId])).toEqual(['MINED']);
}

const ELSEWHERE = `0x${'e1'.repeat(32)}`;

function inOneOtherBlock(receipt: unknown): Record<string, unknown> {
  return { ...(receipt as Record<string, unknown>), blockHash: ELSEWHERE };
}

function inAnotherBlock(receipts: unknown): unknown {
  return (receipts as unknown[]).map(inOneOtherBlock);
}

function withoutBlock(receipt: unknown): unknown {
  return { ...(receipt as Record<string, unknown>), blockHash: null };
}
