import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { receiptsRoot } from '../../../src/modules/chain/infrastructure/receipts-root.js';
import { aConnector } from './chain-fixture.js';
import { type FakeAnswer, FakeRpcServer, type RpcCall } from './fake-rpc-server.js';
import { BLOCK, hashOf, OTHER_BLOCK, receiptAnswer } from './receipt-answer.js';

const [TX, SECOND, THIRD] = [hashOf('1'), hashOf('2'), hashOf('3')];
const WHOLE = 'eth_getBlockReceipts';
const SINGLE = 'eth_getTransactionReceipt';
const BUSY: FakeAnswer = { error: { code: -32000, message: 'header not found' } };

describe('receipts', () => {
  let node: FakeRpcServer;
  let fixture: ReturnType<typeof aConnector>;

  beforeEach(async () => {
    node = await new FakeRpcServer().start();
    fixture = aConnector([node.url]);
  });

  afterEach(async () => {
    await fixture.pool.close();
    await node.stop();
  });

  const paramsOf = (method: string) => node.seen.filter((call) => call.method === method).map(({ params }) => params);

  describe('that the only endpoint is asked for again', () => {
    const kindsOf = async (...placed: (readonly [typeof TX, typeof BLOCK])[]) => {
      const known = placed.map(([txHash, blockHash]) => ({ txHash, blockHash, blockNumber: 1 }));
      const answers = await fixture.connector.agreedReceipts(known);
      return answers.map((answer) => (answer.kind === 'found' ? answer.receipt.txHash : answer.kind));
    };
    /** Has the first two in one block, and the third in another. */
    const answer = ({ method, params: [hash] }: RpcCall): FakeAnswer => {
      if (method === WHOLE) return { result: hash === BLOCK ? [receiptAnswer(TX), receiptAnswer(SECOND)] : null };
      return { result: receiptAnswer(hash, hash === THIRD ? OTHER_BLOCK : BLOCK) };
    };

    it('come with the whole block where two are in it, and else one by one', async () => {
      node.answer = answer;
      expect(await kindsOf([THIRD, OTHER_BLOCK], [TX, BLOCK], [SECOND, BLOCK])).toEqual([THIRD, TX, SECOND]);
      expect(paramsOf(WHOLE)).toEqual([[BLOCK]]);
      expect(paramsOf(SINGLE)).toEqual([[THIRD]]);
    });

    it.each<[string, FakeAnswer]>([
      ['is not there any more', { result: null }],
      ['cannot be had', BUSY],
      ['has other transactions now', { result: [receiptAnswer(hashOf('4'))] }],
    ])('come one by one where the block %s', async (_words, ofBlock) => {
      node.answer = (call) => (call.method === WHOLE ? ofBlock : answer(call));
      expect(await kindsOf([TX, BLOCK], [SECOND, BLOCK])).toEqual([TX, SECOND]);
      expect(paramsOf(SINGLE)).toEqual([[TX], [SECOND]]);
    });

    it('are none where the node knows them no more', async () => {
      node.answer = () => ({ result: null });
      expect(await kindsOf([TX, BLOCK], [SECOND, BLOCK], [THIRD, OTHER_BLOCK])).toEqual(['none', 'none', 'none']);
    });
  });

  describe('of a block', () => {
    const asked = { hash: BLOCK, receiptsRoot: null, transactionHashes: [TX, SECOND] };
    const block = { number: '0x5', hash: BLOCK, parentHash: OTHER_BLOCK, timestamp: '0x1', transactions: [TX, SECOND] };
    const oneByOne = ({ method, params: [hash] }: RpcCall): FakeAnswer => {
      if (method === WHOLE) return { error: { code: -32601, message: 'method not found' } };
      return { result: method === SINGLE ? receiptAnswer(hash) : block };
    };

    it('one by one are those of the transactions that the block has', async () => {
      node.answer = oneByOne;
      expect(await fixture.connector.blockReceipts(asked)).toMatchObject({
        receipts: [{ txHash: TX }, { txHash: SECOND }],
      });
      expect(paramsOf('eth_getBlockByHash')).toEqual([[BLOCK, false]]);
      expect(paramsOf(SINGLE)).toEqual([[TX], [SECOND]]);
    });

    it('one by one are unavailable where one of them is, and not gone', async () => {
      node.answer = (call) => (call.method === SINGLE && call.params[0] === SECOND ? BUSY : oneByOne(call));
      await expect(fixture.connector.blockReceipts(asked)).rejects.toMatchObject({ code: 'rpc_unavailable' });
    });

    it('one by one are null where the node does not have the block', async () => {
      node.answer = (call) => (call.method === 'eth_getBlockByHash' ? { result: null } : oneByOne(call));
      expect(await fixture.connector.blockReceipts(asked)).toBeNull();
    });

    it('come one by one for ten minutes after an error that the node has no such method', async () => {
      fixture.clock.hold();
      node.answer = oneByOne;
      await fixture.connector.blockReceipts(asked);
      fixture.clock.advance(599_999);
      await fixture.connector.blockReceipts(asked);
      expect(paramsOf(WHOLE)).toHaveLength(1);
      fixture.clock.advance(1);
      await fixture.connector.blockReceipts(asked);
      expect(paramsOf(WHOLE)).toHaveLength(2);
    });

    it('are null, and do not come one by one, where they are asked for at once alone', async () => {
      node.answer = oneByOne;
      expect(await fixture.connector.blockReceipts(asked, true)).toBeNull();
      expect(await fixture.connector.blockReceipts(asked, true)).toBeNull();
      expect(node.asked).toEqual([WHOLE]);
    });

    it('are asked for in one call again after an error that says nothing of the method', async () => {
      node.answer = (call) => (call.method === WHOLE ? BUSY : oneByOne(call));
      await expect(fixture.connector.blockReceipts(asked)).rejects.toMatchObject({ code: 'rpc_unavailable' });
      node.answer = () => ({ result: [receiptAnswer(TX), receiptAnswer(SECOND)] });
      expect(await fixture.connector.blockReceipts(asked)).toMatchObject({ receipts: [{}, {}] });
      expect(paramsOf(SINGLE)).toEqual([]);
    });

    it('are not proven where one of two is said to be of another transaction: the root has no hashes', async () => {
      const proof = { type: '0x2', cumulativeGasUsed: '0x1', logsBloom: `0x${'0'.repeat(512)}`, logs: [] };
      const told = [receiptAnswer(TX), receiptAnswer(THIRD)].map((each, i) => ({
        ...each,
        ...proof,
        transactionIndex: `0x${i}`,
      }));
      node.answer = () => ({ result: told });
      const proven = { ...asked, receiptsRoot: receiptsRoot(told) };
      expect(await fixture.connector.blockReceipts(proven)).toMatchObject({ proven: false });
      expect(await fixture.connector.blockReceipts({ ...proven, transactionHashes: [TX, THIRD] })).toMatchObject({
        proven: true,
      });
    });
  });

  describe('of which two contradict each other', () => {
    const executed = { ...receiptAnswer(TX), gasUsed: '0x5208' };
    const copy = { ...executed, status: '0x0', gasUsed: '0x0', transactionIndex: '0x2' };
    const asked = { hash: BLOCK, receiptsRoot: null, transactionHashes: [TX, SECOND] };
    const answers = (whole: unknown, single: unknown) =>
      (node.answer = ({ method, params: [hash] }): FakeAnswer =>
        method === WHOLE ? { result: whole } : { result: hash === TX ? single : receiptAnswer(hash) });
    const inBlock = async () =>
      (await fixture.connector.blockReceipts(asked))?.receipts.map(({ txHash, status }) => [txHash, status]);

    it.each([
      ['a copy that used no gas, before or behind it', [copy, executed]],
      ['a copy that comes later', [executed, { ...copy, gasUsed: '0x5208' }]],
    ])('is the execution beside %s, when the answer by hash agrees', async (_words, [first, second]) => {
      answers([first, receiptAnswer(SECOND), second], executed);
      expect(await inBlock()).toEqual(expect.arrayContaining([[TX, 'success'], [SECOND, 'success']])); // oxfmt-ignore
      answers([first, receiptAnswer(SECOND), second], copy);
      expect(await inBlock()).toEqual([[SECOND, 'success']]);
    });

    it('is one of two that are equal, without another call', async () => {
      answers([executed, executed, receiptAnswer(SECOND)], null);
      expect(await inBlock()).toEqual([[TX, 'success'], [SECOND, 'success']]); // oxfmt-ignore
      expect(paramsOf(SINGLE)).toEqual([]);
    });

    it('decides nothing: a revert by hash, and a success in its block', async () => {
      answers([copy, executed], copy);
      expect(await fixture.connector.receipts([TX, SECOND])).toMatchObject([
        { kind: 'unclear', message: expect.stringContaining('eth_getBlockReceipts') },
        { kind: 'found', receipt: { txHash: SECOND } },
      ]);
      const placed = [TX, SECOND].map((txHash) => ({ txHash, blockHash: BLOCK, blockNumber: 5 }));
      expect(await fixture.connector.agreedReceipts(placed)).toMatchObject([{ kind: 'unclear' }, { kind: 'found' }]);
    });

    it('are no contradiction where it failed in one block and is executed in a later one', async () => {
      const failedFirst = { ...executed, status: '0x0' };
      answers([failedFirst, receiptAnswer(SECOND)], receiptAnswer(TX, OTHER_BLOCK));
      const placed = [TX, SECOND].map((txHash) => ({ txHash, blockHash: BLOCK, blockNumber: 5 }));
      expect(await fixture.connector.agreedReceipts(placed)).toMatchObject([
        { kind: 'found', receipt: { blockHash: OTHER_BLOCK, status: 'success' } },
        { kind: 'found', receipt: { txHash: SECOND } },
      ]);
    });

    it.each<[string, unknown]>([
      ['says the same', [copy]],
      ['does not have it', []],
      ['is not told', null],
    ])('but a revert counts where its block %s', async (_words, whole) => {
      answers(whole, copy);
      expect(await fixture.connector.receipts([TX])).toMatchObject([
        { kind: 'found', receipt: { status: 'reverted' } },
      ]);
    });
  });

  describe('of a transaction that its node does not know by hash', () => {
    const PLACED = { txHash: TX, blockHash: BLOCK, blockNumber: 5 };
    const again = async (whole: FakeAnswer) => {
      node.answer = ({ method }) => (method === WHOLE ? whole : { result: null });
      return (await fixture.connector.agreedReceipts([PLACED]))[0];
    };

    it('are those of the block that is at its height now', async () => {
      expect(await again({ result: [receiptAnswer(SECOND), receiptAnswer(TX)] })).toMatchObject({
        kind: 'found',
        receipt: { txHash: TX, status: 'success' },
      });
      expect(paramsOf(WHOLE)).toEqual([['0x5']]);
    });

    it.each(['before', 'behind'])('are its execution, where a copy %s it used no gas', async (place) => {
      const executed = receiptAnswer(TX);
      const copy = { ...executed, status: '0x0', gasUsed: '0x0' };
      const result = place === 'before' ? [copy, executed] : [executed, copy];
      expect(await again({ result })).toMatchObject({ kind: 'found', receipt: { status: 'success', gasUsed: 1n } });
    });

    it.each<[string, FakeAnswer, string]>([
      ['none: another block is at its height', { result: [receiptAnswer(TX, OTHER_BLOCK)] }, 'none'],
      ['none: the block does not have it', { result: [receiptAnswer(SECOND)] }, 'none'],
      ['none: there is no such block', { result: null }, 'none'],
      ['none: the node has no receipts of blocks', { error: { code: -32601, message: 'method not found' } }, 'none'],
      ['not known: the node fails', { error: { code: -32000, message: 'header not found' } }, 'unavailable'],
      ['not known: the node is busy', { error: { code: -32005, message: 'rate limit exceeded' } }, 'unavailable'],
      ['unclear: no list', { result: { receipts: [] } }, 'unclear'],
      [
        'unclear: it succeeded and reverted in one block',
        { result: [receiptAnswer(TX), { ...receiptAnswer(TX), status: '0x0' }] },
        'unclear',
      ],
      [
        'unclear: it succeeded and reverted in one block, and used no gas at all',
        { result: ['0x0', '0x1'].map((status) => ({ ...receiptAnswer(TX), status, gasUsed: '0x0' })) },
        'unclear',
      ],
    ])('are %s', async (_words, whole, kind) => {
      expect(await again(whole)).toMatchObject({ kind });
    });
  });

  it('of a block leave out those that cannot be read: of strangers, and of ours, which are asked for by hash', async () => {
    node.answer = () => ({ result: [{ ...receiptAnswer(THIRD), status: null }, receiptAnswer(TX), 7] });
    const asked = { hash: BLOCK, receiptsRoot: null, transactionHashes: [TX] };
    expect(await fixture.connector.blockReceipts(asked)).toMatchObject({ receipts: [{ txHash: TX }] });
  });

  it('name each field that an endpoint does not tell once in the log', async () => {
    node.answer = ({ params: [hash] }) => ({ result: { ...receiptAnswer(hash), gasUsed: null } });
    await fixture.connector.receipts([TX, SECOND]);
    await fixture.connector.receipts([THIRD]);
    const lines = fixture.log.lines.filter(({ event }) => event.includes('does not tell'));
    expect(lines.map(({ fields }) => fields)).toEqual([
      { chainId: 1337, endpoint: expect.stringContaining('#0 http://127.0.0.1'), field: 'receipt.gasUsed' },
    ]);
  });
});
