import { afterEach, describe, expect, it } from '@jest/globals';
import { aConnector } from './chain-fixture.js';
import { type Exchange, type FakeAnswer, FakeRpcServer } from './fake-rpc-server.js';
import { BLOCK, hashOf, OTHER_BLOCK, receiptAnswer } from './receipt-answer.js';

type Connector = ReturnType<typeof aConnector>['connector'];
type Say = FakeAnswer | ((params: readonly unknown[]) => FakeAnswer);
/** What a node says, by method: an answer, or an HTTP status and a body. */
type Node = Readonly<Record<string, Say | readonly [status: number, body: string]>>;
/** An item of a public tracker; what the node says there; what is asked; what is right. The list is docs/public-cases.md. */
type Case = readonly [
  source: string,
  told: string,
  node: Node,
  ask: (chain: Connector) => Promise<unknown>,
  right: unknown,
];

const TX = hashOf('1');
const ZEROS = `0x${'0'.repeat(64)}`;
const GWEI = 1_000_000_000;
const hex = (n: number): string => `0x${n.toString(16)}`;
const ok = (result: unknown): FakeAnswer => ({ result });
const error = (code: number, message: string): FakeAnswer => ({ error: { code, message } });
const MISSING = error(-32601, 'the method does not exist/is not available');
const block = (fields: object = {}): FakeAnswer =>
  ok({ number: '0x64', hash: BLOCK, parentHash: OTHER_BLOCK, timestamp: '0x1', transactions: [], ...fields });
const told = (fields: object = {}): FakeAnswer => ok({ ...receiptAnswer(TX), ...fields });
const fees = (base: number, rewards: unknown[] | null, fields: object = {}): FakeAnswer =>
  ok({
    oldestBlock: '0x64',
    baseFeePerGas: [hex(base), hex(base)],
    gasUsedRatio: [0.5],
    reward: rewards && [rewards],
    ...fields,
  });
const TIPS = [1, 2, 3, 4, 5].map(hex);
const NO_TIPS = [0, 0, 0, 0, 0].map(hex);
/** All that tells a price but `eth_feeHistory`. */
const PRICED = {
  eth_gasPrice: ok(hex(13)),
  eth_maxPriorityFeePerGas: ok('0x5'),
  eth_getBlockByNumber: block({ baseFeePerGas: '0x8' }),
};
/** For a chain whose base fee is 0. */
const FREE_BASE = { eth_feeHistory: fees(0, NO_TIPS), eth_getBlockByNumber: block({ baseFeePerGas: '0x0' }) };
const PLACED = { txHash: TX, blockHash: BLOCK, blockNumber: 1 };
const TO_PROVE = { hash: BLOCK, receiptsRoot: null, transactionHashes: [TX] };

const receipt = async (chain: Connector): Promise<unknown> => (await chain.receipts([TX]))[0];
const again = async (chain: Connector): Promise<unknown> => (await chain.agreedReceipts([PLACED, PLACED]))[0];
const ofBlock = async (chain: Connector): Promise<unknown> => (await chain.blockReceipts(TO_PROVE))?.receipts;
const head = (chain: Connector): Promise<unknown> => chain.head();
const quote = (chain: Connector): Promise<unknown> => chain.feeQuote();
const priced = (baseFeePerGas: number, slow: number): object => ({
  baseFeePerGas: BigInt(baseFeePerGas),
  tips: { slow: BigInt(slow) },
});

const CASES: Readonly<Record<string, readonly Case[]>> = {
  K1: [
    [
      'Taraxa-project/taraxa-node#1876',
      'status as a JSON number',
      { eth_getTransactionReceipt: told({ status: 1, blockNumber: 5 }) },
      receipt,
      { kind: 'found', receipt: { status: 'success', blockNumber: 5 } },
    ],
    [
      'trufflesuite/ganache#400',
      'status true, which names the field',
      { eth_getTransactionReceipt: told({ status: true }) },
      receipt,
      { kind: 'unclear', message: expect.stringContaining('receipt.status') },
    ],
    [
      'foundry-rs/foundry#7640',
      'no price',
      { eth_getTransactionReceipt: told({ effectiveGasPrice: undefined }) },
      receipt,
      { kind: 'found', receipt: { effectiveGasPrice: null } },
    ],
    [
      'XinFinOrg/XDPoSChain#162',
      'an address with another prefix',
      { eth_getTransactionReceipt: told({ contractAddress: `xdc${'b1'.repeat(20)}` }) },
      receipt,
      { kind: 'found', receipt: { contractAddress: null } },
    ],
    [
      'onflow/flow-evm-gateway#208',
      'an empty bloom, roots of zeros, time 0',
      { eth_getBlockByNumber: block({ logsBloom: '0x', receiptsRoot: ZEROS, timestamp: '0x0' }) },
      head,
      { number: 100, timestamp: 0 },
    ],
    [
      'okx/exchain#786',
      'null for no transactions',
      { eth_getBlockByNumber: block({ transactions: null }) },
      async (chain) => (await chain.blocks([100]))[0],
      { transactionHashes: [] },
    ],
    [
      'ethereum-optimism/op-geth#542',
      'an error for a fee history with NaN',
      { ...PRICED, eth_feeHistory: error(-32603, 'json: unsupported value: NaN') },
      quote,
      priced(9, 5),
    ],
    [
      'ethers-io/ethers.js#2228',
      'HTTP 500 to eth_feeHistory',
      { ...PRICED, eth_feeHistory: [500, 'Internal Server Error'] },
      quote,
      priced(9, 5),
    ],
    [
      'INFURA/infura#124',
      'HTTP 405 without a body to methods that are missing',
      { ...PRICED, eth_feeHistory: fees(9, null), eth_maxPriorityFeePerGas: [405, ''] },
      quote,
      priced(9, 5),
    ],
    [
      'hiero-ledger/hiero-json-rpc-relay#3487',
      'an empty hex for the tip',
      { eth_feeHistory: fees(9, null), eth_maxPriorityFeePerGas: ok('0x') },
      quote,
      priced(9, 1),
    ],
    [
      'evmos/ethermint#970',
      'rewards of null',
      { ...PRICED, eth_feeHistory: fees(9, [null, null, null, null, null]) },
      quote,
      priced(9, 5),
    ],
    [
      'hemilabs/op-geth#33',
      'negative rewards',
      { ...PRICED, eth_feeHistory: fees(9, ['-0xfd', '-0xfd', '0x1', '0x1', '0x1']) },
      quote,
      priced(9, 5),
    ],
    [
      'ethereum/go-ethereum#23239',
      'the oldest block as a JSON number',
      { eth_feeHistory: fees(9, TIPS, { oldestBlock: 100 }) },
      quote,
      { blockNumber: 100, ...priced(9, 1) },
    ],
  ],
  K2: [
    [
      'INFURA/infura#30',
      'a block of zeros without a number',
      { eth_getTransactionReceipt: told({ blockHash: ZEROS, blockNumber: null }) },
      receipt,
      { kind: 'none' },
    ],
    [
      'openethereum/parity-ethereum#3482',
      'a receipt of what is pending, with an address',
      {
        eth_getTransactionReceipt: told({
          blockHash: null,
          blockNumber: null,
          status: null,
          contractAddress: `0x${'1'.repeat(40)}`,
        }),
      },
      receipt,
      { kind: 'none' },
    ],
    [
      'openethereum/parity-ethereum#8281',
      'a latest block without hash and number',
      {
        eth_getBlockByNumber: ([tag]) =>
          tag === 'latest' ? block({ hash: null, number: null }) : block({ number: tag }),
      },
      head,
      { number: 99 },
    ],
    [
      'erigontech/erigon#5893, node-real/bsc-erigon#716',
      'null for latest while it syncs',
      { eth_getBlockByNumber: ([tag]) => (tag === 'latest' ? ok(null) : block({ number: tag })) },
      head,
      { number: 99 },
    ],
  ],
  K3: [
    [
      'hiero-ledger/hiero-json-rpc-relay#4869',
      'twice in a block, and by hash in another one',
      {
        eth_getBlockReceipts: ok([{ ...receiptAnswer(TX), status: '0x0' }, receiptAnswer(TX)]),
        eth_getTransactionReceipt: ok(receiptAnswer(TX, OTHER_BLOCK)),
      },
      ofBlock,
      [],
    ],
    [
      'cosmos/evm#1280',
      'receipts of a block with the results of the next one',
      { eth_getBlockReceipts: ok([{ ...receiptAnswer(TX), status: '0x0' }]), eth_getTransactionReceipt: told() },
      again,
      { kind: 'unclear', message: expect.stringContaining('eth_getBlockReceipts says that it reverted') },
    ],
    [
      'crypto-org-chain/cronos#462',
      'another status by hash than in the block',
      { eth_getBlockReceipts: ok([receiptAnswer(TX)]), eth_getTransactionReceipt: told({ status: '0x0' }) },
      receipt,
      { kind: 'unclear', message: expect.stringContaining('eth_getTransactionReceipt says that it reverted') },
    ],
  ],
  K5: [
    [
      'MetaMask/metamask-extension#19863',
      'a tip although gas is free',
      { ...FREE_BASE, eth_gasPrice: ok('0x0'), eth_maxPriorityFeePerGas: ok(hex(GWEI)) },
      quote,
      priced(0, 0),
    ],
    [
      'NomicFoundation/hardhat-ignition#730',
      'a base fee of 0, and no tip',
      { ...FREE_BASE, eth_gasPrice: ok('0x0'), eth_maxPriorityFeePerGas: MISSING },
      quote,
      priced(0, 0),
    ],
    [
      'besu-eth/besu#3763',
      'a gas price of 0 where a base fee is paid',
      { ...PRICED, eth_feeHistory: MISSING, eth_gasPrice: ok('0x0'), eth_maxPriorityFeePerGas: MISSING },
      quote,
      priced(9, 1),
    ],
    [
      'web3/web3.js#7050',
      'a base fee of 0 where gas is not free',
      {
        ...FREE_BASE,
        eth_feeHistory: fees(0, null),
        eth_gasPrice: ok(hex(GWEI)),
        eth_maxPriorityFeePerGas: ok(hex(GWEI)),
      },
      quote,
      priced(0, GWEI),
    ],
    [
      'kkrt-labs/kakarot-rpc#749',
      'a fee history of zeros beside a base fee',
      { ...PRICED, eth_feeHistory: fees(0, NO_TIPS), eth_maxPriorityFeePerGas: ok('0x0') },
      quote,
      priced(9, 1),
    ],
    [
      'kaiachain/kaia#28',
      'a tip of 0 beside a base fee',
      {
        eth_feeHistory: fees(25, NO_TIPS, { gasUsedRatio: [0] }),
        eth_gasPrice: ok(hex(25)),
        eth_maxPriorityFeePerGas: ok('0x0'),
      },
      quote,
      priced(25, 1),
    ],
  ],
};

let end = async (): Promise<void> => undefined;
afterEach(() => end());

async function connected(server: FakeRpcServer): Promise<Connector> {
  await server.start();
  const { connector, pool } = aConnector([server.url], { batchSize: 20 });
  end = async () => {
    await pool.close();
    await server.stop();
  };
  return connector;
}

describe.each(Object.entries(CASES))('%s', (_rule, cases) => {
  it.each(cases)('%s: %s', async (_source, _told, node, ask, right) => {
    const server = new FakeRpcServer();
    server.answer = ({ method, params }) => {
      const said = node[method] ?? MISSING;
      return typeof said === 'function' ? said(params) : Array.isArray(said) ? 'nothing' : (said as FakeAnswer);
    };
    server.takeOver = ({ calls, response }) => {
      const http = calls.map(({ method }) => node[method]).find((said) => Array.isArray(said));
      if (Array.isArray(http)) response.writeHead(http[0]).end(http[1]);
      return http !== undefined;
    };
    expect(await ask(await connected(server))).toMatchObject(right as object);
  });
});

const HASHES = Array.from(
  { length: 20 },
  (_, n) => `${TX.slice(0, 64)}${n.toString(16).padStart(2, '0')}` as typeof TX,
);
const inJson =
  (status: number, body: unknown) =>
  ({ response }: Exchange): void =>
    void response.writeHead(status).end(JSON.stringify(body));
const inText =
  (status: number, body: string) =>
  ({ response }: Exchange): void =>
    void response.writeHead(status).end(body);
const refused = (code: number, message: string): object => ({ jsonrpc: '2.0', id: null, error: { code, message } });
const cutAt =
  (most: number, message: string) =>
  ({ calls, response }: Exchange): void => {
    const items = calls.map(({ id, params: [hash] }, i) => ({
      jsonrpc: '2.0',
      id,
      ...(i < most ? { result: receiptAnswer(hash) } : { error: { code: -32003, message } }),
    }));
    response.end(JSON.stringify(items));
  };

/** What is said to a batch of more calls than these. */
const BATCHES: readonly [source: string, most: number, say: (exchange: Exchange) => void][] = [
  ['ethereum/go-ethereum#27923', 4, cutAt(4, 'response too large')],
  ['NethermindEth/nethermind JsonRpcProcessor.cs', 4, cutAt(4, 'MaxBatchResponseBodySize of 32768KB exceeded')],
  [
    'hemilabs/ui-monorepo#887',
    3,
    inJson(500, refused(31, 'Batch of more than 3 requests are not allowed on free tier')),
  ],
  ['ethers-io/ethers.js#3155', 1, inText(200, 'error message')],
  ['cenobites/flask-jsonrpc#80', 1, inText(500, '<html><title>Internal Server Error</title></html>')],
  ['besu-eth/besu#4951', 5, inJson(200, refused(-32602, 'Number of requests in batch exceeds --rpc-max-batch-size.'))],
  ['openethereum/parity-ethereum#8961', 3, inText(413, '')],
  [
    'Nethereum/Nethereum#1060',
    1,
    ({ calls, response }) => response.end(JSON.stringify(calls.map(() => ({ id: null, result: null })))),
  ],
];

it.each(BATCHES)('K9 %s: a batch of more than %i', async (_source, most, say) => {
  const server = new FakeRpcServer();
  server.answer = ({ params: [hash] }) => ok(receiptAnswer(hash));
  server.takeOver = (exchange) => {
    if (exchange.calls.length > most) say(exchange);
    return exchange.calls.length > most;
  };
  const connector = await connected(server);
  const kinds = async () => new Set((await connector.receipts(HASHES)).map(({ kind }) => kind));
  // Each ask ends after a few round trips without an answer; the next one goes on with the size that is left.
  await kinds();
  await kinds();
  expect(await kinds()).toEqual(new Set(['found']));
  server.bodies.length = 0;
  await kinds();
  expect(server.bodies.filter((body) => (JSON.parse(body) as unknown[]).length > Math.max(1, most)).length).toBe(0);
});
