import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SigningKey } from 'ethers';
import { parseAddress, parseHash, parseHex } from '../../../src/kernel/hex.js';
import { RpcUnavailable } from '../../../src/modules/chain/domain/rpc-unavailable.js';
import { receiptsRoot } from '../../../src/modules/chain/infrastructure/receipts-root.js';
import { aConnector, type FixtureOptions } from './chain-fixture.js';
import { type FakeAnswer, FakeRpcServer } from './fake-rpc-server.js';
import { DEV_CHAIN } from '../../support/builders.js';
import { shownTransaction } from './shown-transaction.js';
import { BLOCK, hashOf, OTHER_BLOCK, receiptAnswer } from './receipt-answer.js';

const TX = hashOf('1');
/** As it is asked for by whoever has nothing to prove by. */
const ASKED = { hash: BLOCK, receiptsRoot: null, transactionHashes: [TX] };
const FROM = parseAddress(`0x${'c'.repeat(40)}`);
const CALL = { from: FROM, to: null, value: 0n, data: parseHex('0x') };

describe('the chain connector', () => {
  let node: FakeRpcServer;
  const open: { close(): Promise<void> }[] = [];

  const connect = (options: FixtureOptions = {}) => {
    const { connector, pool } = aConnector([node.url], options);
    open.push(pool);
    return connector;
  };

  beforeEach(async () => {
    node = await new FakeRpcServer().start();
  });

  afterEach(async () => {
    await Promise.all(open.splice(0).map((pool) => pool.close()));
    await node.stop();
  });

  it('an RPC error is not "no receipt"', async () => {
    const [known, none, indexing, malformed, foreign, missing] = ['1', '2', '3', '4', '5', '6'].map(hashOf);
    node.answer = ({ params: [hash] }) => {
      if (hash === known) return { result: receiptAnswer(String(hash)) };
      if (hash === indexing) return { error: { code: -32000, message: 'transaction indexing is in progress' } };
      if (hash === malformed) return { result: { ...receiptAnswer(String(hash)), status: null } };
      if (hash === foreign) return { result: receiptAnswer(TX) };
      return hash === missing ? 'nothing' : { result: null };
    };
    const hashes = [known, none, indexing, malformed, foreign, missing].flatMap((hash) => hash ?? []);
    const answers = await connect().receipts(hashes);
    expect(answers.map(({ kind }) => kind)).toEqual([
      'found',
      'none',
      'unavailable',
      'unclear',
      'unclear',
      'unavailable',
    ]);
    expect(answers[3]).toMatchObject({ message: `receipt.status is not a hex quantity (#0 ${node.url.slice(0, -1)})` });
  });

  it('a transaction with another hash than the one that was asked for is none', async () => {
    node.chainId = DEV_CHAIN;
    const shown = shownTransaction(3, new SigningKey(`0x${'1'.repeat(64)}`));
    node.answer = () => ({ result: shown });
    const asked = [parseHash(String(shown['hash'])), TX];
    expect(await connect({ chainId: DEV_CHAIN }).transactions(asked)).toMatchObject([{ nonce: 3n }, null]);
  });

  it('an unreachable node makes receipts unavailable, and other reads an RpcUnavailable without its URL', async () => {
    const connector = connect();
    await node.stop();
    expect(await connector.receipts([TX])).toMatchObject([{ kind: 'unavailable' }]);
    const error: unknown = await connector.head().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RpcUnavailable);
    expect(error).toMatchObject({
      code: 'rpc_unavailable',
      retryable: true,
      facts: { chainId: 1337, method: 'eth_getBlockByNumber' },
    });
  });

  it('says so when every endpoint serves another chain', async () => {
    node.chainId = 1;
    await expect(connect().head()).rejects.toMatchObject({ code: 'rpc_wrong_chain' });
    expect(node.asked).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['a text', 'hello'],
    ['a block without a hash', { number: '0x1', parentHash: BLOCK, timestamp: '0x1' }],
  ])('%s is not a head', async (_name, result) => {
    node.answer = () => ({ result });
    await expect(connect().head()).rejects.toMatchObject({ code: 'rpc_malformed_answer' });
  });

  const shown = (number: number, hash: unknown = BLOCK) => ({
    result: { number: `0x${number.toString(16)}`, hash, parentHash: OTHER_BLOCK },
  });
  const ZEROS = `0x${'0'.repeat(64)}`;

  it.each([ZEROS, null])(
    'a latest block whose hash is %s is only announced: the head is the block below it',
    async (none) => {
      node.head = 7;
      node.answer = ({ params: [tag] }) => (tag === 'latest' ? shown(7, none) : shown(Number(tag)));
      expect(await connect().head()).toMatchObject({ number: 6, hash: BLOCK });
    },
  );

  it.each<[string, FakeAnswer]>([
    ['is null', { result: null }],
    ['is an error', { error: { code: 12, message: 'requested epoch was a null round (6)' } }],
    ['is the block before', shown(5)],
    ['is only announced', shown(6, ZEROS)],
  ])('a height has no block where the answer %s', async (_words, answer) => {
    node.answer = ({ params: [tag] }) => (tag === '0x6' ? answer : shown(Number(tag)));
    expect((await connect().blocks([5, 6, 7])).map((block) => block?.number ?? null)).toEqual([5, null, 7]);
  });

  it('blocks are not available where the endpoint has nothing but errors, or a block that was not asked for', async () => {
    node.answer = () => ({ error: { code: 12, message: 'no' } });
    await expect(connect().blocks([5, 6])).rejects.toMatchObject({ code: 'rpc_unavailable' });
    node.answer = () => shown(9);
    await expect(connect().blocks([5])).rejects.toMatchObject({ code: 'rpc_malformed_answer' });
  });

  it.each(['safe', 'finalized'] as const)('asks for the block under %s by the tag, once', async (tag) => {
    node.answer = () => ({ result: { number: '0x7', hash: BLOCK, parentHash: OTHER_BLOCK, timestamp: '0x1' } });
    expect(await connect().taggedHead(tag)).toMatchObject({ number: 7, hash: BLOCK });
    expect(node.seen.filter(({ method }) => method === 'eth_getBlockByNumber').map(({ params }) => params)).toEqual([
      [tag, false],
    ]);
  });

  it('a tag without a block is null, and one that the node does not know an error with its words', async () => {
    const connector = connect();
    expect(await connector.taggedHead('finalized')).toBeNull();
    node.answer = () => ({ error: { code: -32602, message: 'unknown block tag' } });
    await expect(connector.taggedHead('safe')).rejects.toMatchObject({
      code: 'rpc_unavailable',
      message: expect.stringContaining('unknown block tag'),
    });
  });

  it('does not take another block for the one it asked for', async () => {
    node.answer = () => ({
      result: { number: '0x7', hash: BLOCK, parentHash: BLOCK, timestamp: '0x1', transactions: [] },
    });
    await expect(connect().blocks([6])).rejects.toMatchObject({ code: 'rpc_malformed_answer' });
  });

  it('a nonce that is not a number is an error, never 0', async () => {
    node.answer = () => ({ result: null });
    await expect(connect().transactionCounts([FROM], 'latest')).rejects.toMatchObject({ code: 'rpc_malformed_answer' });
  });

  it('asks nothing for nothing', async () => {
    const connector = connect();
    expect(
      await Promise.all([
        connector.receipts([]),
        connector.blocks([]),
        connector.balances([]),
        connector.estimateGas([]),
      ]),
    ).toEqual([[], [], [], []]);
    expect(node.seen).toEqual([]);
  });

  describe('receipts of a block', () => {
    it('come in one call', async () => {
      node.answer = () => ({ result: [receiptAnswer(TX)] });
      expect(await connect().blockReceipts(ASKED)).toMatchObject({ receipts: [{ txHash: TX, blockHash: BLOCK }] });
      expect(node.seen.at(-1)?.params).toEqual([BLOCK]);
    });

    it('are null for a block the node does not have', async () => {
      expect(await connect().blockReceipts(ASKED)).toBeNull();
    });

    it('are never those of another block', async () => {
      node.answer = () => ({ result: [receiptAnswer(TX, OTHER_BLOCK)] });
      await expect(connect().blockReceipts(ASKED)).rejects.toMatchObject({ code: 'rpc_malformed_answer' });
    });

    it.each<[string, unknown, unknown]>([
      ['one by one where the node lacks the method', receiptAnswer(TX), [{ txHash: TX }]],
      ['null when a transaction moved to another block meanwhile', receiptAnswer(TX, OTHER_BLOCK), null],
      ['null when a transaction is in no block any more', null, null],
    ])('%s', async (_name, found, expected) => {
      node.answer = ({ method }) => {
        if (method === 'eth_getBlockReceipts')
          return {
            error: { code: -32601, message: 'the method eth_getBlockReceipts does not exist/is not available' },
          };
        const block = { number: '0x5', hash: BLOCK, parentHash: OTHER_BLOCK, timestamp: '0x1', transactions: [TX] };
        return { result: method === 'eth_getBlockByHash' ? block : found };
      };
      const connector = connect();
      for (let i = 0; i < 2; i++) {
        const answer = await connector.blockReceipts(ASKED);
        if (expected === null) expect(answer).toBeNull();
        else expect(answer).toMatchObject({ receipts: expected });
      }
      expect(node.asked.filter((method) => method === 'eth_getBlockReceipts')).toHaveLength(1);
    });

    describe('are proven', () => {
      const proof = { type: '0x2', cumulativeGasUsed: '0x1', logsBloom: `0x${'0'.repeat(512)}`, logs: [] };
      const provable = { ...receiptAnswer(TX), ...proof };
      const root = receiptsRoot([provable]);
      const asked = { ...ASKED, receiptsRoot: root };

      const isProven = async (result: unknown, block = asked): Promise<boolean | undefined> => {
        node.answer = () => ({ result });
        return (await connect().blockReceipts(block))?.proven;
      };

      it('by the root that the block has of them', async () => {
        expect(await isProven([provable])).toBe(true);
      });

      it('also where they are had one by one', async () => {
        node.answer = ({ method }) => {
          if (method === 'eth_getBlockReceipts') return { error: { code: -32601, message: 'method not found' } };
          const block = { number: '0x5', hash: BLOCK, parentHash: OTHER_BLOCK, timestamp: '0x1', transactions: [TX] };
          return { result: method === 'eth_getBlockByHash' ? block : provable };
        };
        expect(await connect().blockReceipts(asked)).toMatchObject({ receipts: [{ txHash: TX }], proven: true });
      });

      it.each<[string, unknown, typeof asked]>([
        ['with another status', [{ ...provable, status: '0x0' }], asked],
        ['without the fields that the root is made of', [receiptAnswer(TX)], asked],
        ['when there are none of them, as from a node that lags', [], asked],
        [
          'when they are of other transactions than the block has',
          [{ ...provable, transactionHash: OTHER_BLOCK }],
          asked,
        ],
        ['by a block without a root', [provable], { ...asked, receiptsRoot: null }],
        ['by a block whose transactions are not known', [provable], { ...asked, transactionHashes: [] }],
      ])('never %s', async (_name, result, block) => {
        expect(await isProven(result, block)).toBe(false);
      });
    });
  });

  it.each<[string, { code?: number; message: string; data?: unknown }, unknown]>([
    ['a revert', { code: 3, message: 'execution reverted: no', data: '0x' }, { kind: 'reverted', reason: 'no' }],
    [
      'a revert that quotes',
      { code: 3, message: 'execution reverted: insufficient funds' },
      { kind: 'reverted', reason: 'insufficient funds' },
    ],
    ['no money', { message: 'insufficient funds for gas * price + value' }, { kind: 'insufficient_funds' }],
    ['too much gas', { message: 'Out of gas: gas required exceeds allowance: 30000000' }, { kind: 'rejected' }],
    ['too much data', { message: 'max initcode size exceeded: code size 60000, limit 49152' }, { kind: 'rejected' }],
    ['a node that cannot say', { message: 'header not found' }, { kind: 'unavailable' }],
    ['words nobody knows', { message: 'the frobnicator is unhappy' }, { kind: 'unclear' }],
  ])('estimates: %s', async (_name, error, expected) => {
    node.answer = () => ({ error });
    expect(await connect().estimateGas([CALL])).toMatchObject([expected]);
  });

  it.each<[string, unknown, object]>([
    ['where a node tells it', { gasLimit: '0x2540be400' }, { blockGas: 10_000_000_000n }],
    ['unless no node does', {}, {}],
  ])('a large estimate comes with the gas of a block, %s', async (_when, header, told) => {
    node.answer = ({ method }) => ({ result: method === 'eth_estimateGas' ? '0x10117899' : header });
    expect(await connect().estimateGas([CALL])).toEqual([{ kind: 'ok', gas: 269_580_441n, ...told }]);
  });

  it('estimates on latest, a creation without "to"', async () => {
    node.answer = () => ({ result: '0x5208' });
    expect(await connect().estimateGas([CALL, { ...CALL, to: FROM, value: 16n, accessList: [] }])).toEqual([
      { kind: 'ok', gas: 21_000n },
      { kind: 'ok', gas: 21_000n },
    ]);
    expect(node.seen.slice(-2).map(({ params }) => params)).toEqual([
      [{ from: FROM, value: '0x0', data: '0x' }, 'latest'],
      [{ from: FROM, to: FROM, value: '0x10', data: '0x', accessList: [] }, 'latest'],
    ]);
  });
});
