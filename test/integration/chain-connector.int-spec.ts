import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { HDNodeWallet, type TransactionRequest, type Wallet } from 'ethers';
import { ChainConfig, LockstepConfig } from '../../src/config/index.js';
import { type RunningAnvil, startAnvil } from '../../src/dev/anvil.js';
import { DEV_MNEMONIC } from '../../src/dev/dev-accounts.js';
import { type Hash, parseAddress, parseHash, parseHex } from '../../src/kernel/hex.js';
import type { ChainConnector, SignedBytes } from '../../src/modules/chain/index.js';
import { ConfiguredChains } from '../../src/modules/chain/infrastructure/configured-chains.js';
import { RecordingLog, ShiftedClock } from '../unit/chain/chain-fixture.js';
import { FakeMetrics } from '../support/fakes/fake-metrics.js';

const CHAIN_ID = 31_337;
const NOWHERE = parseHash(`0x${'9'.repeat(64)}`);
const POOR = parseAddress('0x00000000000000000000000000000000000000aa');
const SINK = parseAddress('0x00000000000000000000000000000000000000bb');
/** `revert(Error("nope"))`, `invalid`, and an endless loop, as constructors. */
const REVERTS_WITH_NOPE =
  '0x7f08c379a0000000000000000000000000000000000000000000000000000000006000526020600452600460245263' +
  '6e6f706560e01b60445260646000fd';
const REVERTS = '0x60006000fd';
const LOOPS = '0x5b600056';

describe('the chain connector, on a real node', () => {
  let anvil: RunningAnvil;
  let chains: ConfiguredChains;
  let connector: ChainConnector;
  const wallet: HDNodeWallet | Wallet = HDNodeWallet.fromPhrase(DEV_MNEMONIC);
  const account = parseAddress(wallet.address);

  const signed = async (nonce: number, extra: TransactionRequest = {}): Promise<SignedBytes> => {
    const { baseFeePerGas, tips } = await connector.feeQuote();
    const raw = await wallet.signTransaction({
      chainId: CHAIN_ID,
      type: 2,
      nonce,
      to: SINK,
      value: 1n,
      gasLimit: 100_000n,
      maxPriorityFeePerGas: tips.standard,
      maxFeePerGas: 2n * baseFeePerGas + tips.standard,
      ...extra,
    });
    const { keccak256 } = await import('ethers');
    return { raw: parseHex(raw), hash: parseHash(keccak256(raw)) };
  };
  const rpc = async (method: string, params: unknown[] = []) => {
    const response = await fetch(anvil.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    return response.json();
  };
  const mine = async (): Promise<Hash> => {
    await rpc('evm_mine');
    return (await connector.head()).hash;
  };

  beforeAll(async () => {
    anvil = await startAnvil({ chainId: CHAIN_ID, extraArgs: ['--no-mining'] });
    const chain = Object.assign(new ChainConfig(), {
      id: CHAIN_ID,
      rpcUrls: [anvil.url],
      rpcTimeout: 5_000,
    });
    const config = Object.assign(new LockstepConfig(), { chains: [chain] });
    chains = new ConfiguredChains(config, new FakeMetrics(), new ShiftedClock(), new RecordingLog());
    connector = chains.get(CHAIN_ID);
  }, 60_000);

  afterAll(async () => {
    await chains.close();
    await anvil.stop();
  });

  it('reads the head and walks blocks by parent hash', async () => {
    for (let i = 0; i < 3; i++) await mine();
    const head = await connector.head();
    const numbers = [head.number - 2, head.number - 1, head.number, head.number + 1_000];
    const blocks = await connector.blocks(numbers);
    expect(blocks.map((block) => block?.number ?? null)).toEqual([...numbers.slice(0, 3), null]);
    expect(blocks[1]?.parentHash).toBe(blocks[0]?.hash);
    expect(blocks[2]?.hash).toBe(head.hash);
  });

  it('broadcasts, mines, and reads the receipts by hash and by block', async () => {
    const [nonce = 0n] = await connector.transactionCounts([account], 'latest');
    const txs = await Promise.all(Array.from({ length: 25 }, (_, i) => signed(Number(nonce) + i)));
    expect(await connector.broadcast(txs)).toEqual(txs.map(() => ({ kind: 'accepted' })));
    expect(await connector.receipts(txs.map(({ hash }) => hash))).toEqual(txs.map(() => ({ kind: 'none' })));
    expect(await connector.transactionCounts([account], 'pending')).toEqual([nonce + 25n]);
    expect(await connector.transactionCounts([account, POOR], 'latest')).toEqual([nonce, 0n]);
    const block = await mine();
    const found = (await connector.receipts(txs.map(({ hash }) => hash))).flatMap((answer) =>
      answer.kind === 'found' ? [answer.receipt] : [],
    );
    expect(found.map(({ txHash, blockHash, status }) => [txHash, blockHash, status])).toEqual(
      txs.map(({ hash }) => [hash, block, 'success']),
    );
    const toProve = { hash: block, receiptsRoot: null, transactionHashes: [] };
    expect(await connector.blockReceipts(toProve)).toEqual({ receipts: found, proven: false });
    expect(await connector.blockReceipts({ ...toProve, hash: NOWHERE })).toBeNull();
    expect(await connector.balances([SINK, POOR])).toEqual([25n, 0n]);
  });

  it('knows its own transaction again, and that a used nonce is a question', async () => {
    const [nonce = 0n] = await connector.transactionCounts([account], 'latest');
    const tx = await signed(Number(nonce));
    await connector.broadcast([tx]);
    expect(await connector.broadcast([tx])).toEqual([{ kind: 'accepted', errorClass: 'already_known' }]);
    const cheaper = await signed(Number(nonce), { maxPriorityFeePerGas: 1n, maxFeePerGas: 10n ** 9n });
    expect(await connector.broadcast([cheaper])).toMatchObject([
      { kind: 'unknown', errorClass: 'replacement_underpriced' },
    ]);
    await mine();
    const other = await signed(Number(nonce), { value: 2n });
    expect(await connector.broadcast([other, tx])).toMatchObject([
      { kind: 'unknown', errorClass: 'nonce_too_low' },
      { kind: expect.not.stringMatching('rejected') },
    ]);
  });

  it('one bad transaction does not hurt its neighbours', async () => {
    const [nonce = 0n] = await connector.transactionCounts([account], 'latest');
    const [good, poor, tight, next] = [
      await signed(Number(nonce)),
      await signed(Number(nonce) + 1, { value: 10n ** 30n }),
      await signed(Number(nonce) + 1, { gasLimit: 20_000n }),
      await signed(Number(nonce) + 1),
    ];
    expect(await connector.broadcast([good, poor, tight, next])).toMatchObject([
      { kind: 'accepted' },
      { kind: 'rejected', errorClass: 'insufficient_funds' },
      { kind: 'rejected', errorClass: 'intrinsic_gas_too_low' },
      { kind: 'accepted' },
    ]);
    await mine();
  });

  it('reads the receipt of a revert and of a creation', async () => {
    const [nonce = 0n] = await connector.transactionCounts([account], 'latest');
    const txs = [
      await signed(Number(nonce), { to: null, data: REVERTS, value: 0n }),
      await signed(Number(nonce) + 1, { to: null, data: '0x00', value: 0n }),
    ];
    await connector.broadcast(txs);
    await mine();
    const [reverted, created] = await connector.receipts(txs.map(({ hash }) => hash));
    expect(reverted).toMatchObject({ kind: 'found', receipt: { status: 'reverted' } });
    expect(created).toMatchObject({
      kind: 'found',
      receipt: { status: 'success', contractAddress: expect.stringMatching(/^0x[0-9a-f]{40}$/) },
    });
  });

  it('estimates gas: possible, reverting, endless, unpaid', async () => {
    const call = { from: account, to: SINK, value: 1n, data: parseHex('0x') };
    const create = (data: string) => ({ ...call, to: null, value: 0n, data: parseHex(data) });
    expect(
      await connector.estimateGas([call, create(REVERTS), create(REVERTS_WITH_NOPE), create('0xfe'), create(LOOPS)]),
    ).toMatchObject([
      { kind: 'ok', gas: 21_000n },
      { kind: 'reverted', reason: 'no reason given' },
      { kind: 'reverted', reason: expect.stringContaining('nope') },
      { kind: 'reverted' },
      { kind: 'rejected' },
    ]);
    const [unpaid] = await connector.estimateGas([{ from: POOR, to: null, value: 5n, data: parseHex('0x00') }]);
    expect(unpaid).toMatchObject({ kind: 'insufficient_funds' });
  });

  it('quotes fees that the node takes', async () => {
    const quote = await connector.feeQuote();
    expect(quote.blockNumber).toBe((await connector.head()).number);
    expect(quote.baseFeePerGas).toBeGreaterThan(0n);
    expect(quote.tips.urgent).toBeGreaterThanOrEqual(quote.tips.slow);
    expect(chains.endpoints()).toMatchObject([{ chainId: CHAIN_ID, state: 'up', consecutiveFailures: 0 }]);
  });

  it('a node of another chain is never asked for anything', async () => {
    const chain = Object.assign(new ChainConfig(), { id: 1, rpcUrls: [anvil.url] });
    const wrong = new ConfiguredChains(
      Object.assign(new LockstepConfig(), { chains: [chain] }),
      new FakeMetrics(),
      new ShiftedClock(),
      new RecordingLog(),
    );
    await expect(wrong.get(1).head()).rejects.toMatchObject({ code: 'rpc_wrong_chain' });
    expect(wrong.endpoints()).toMatchObject([{ state: 'wrong_chain', reportedChainId: CHAIN_ID }]);
    await wrong.close();
  });
});
