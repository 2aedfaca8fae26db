import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { HDNodeWallet, JsonRpcProvider, Mnemonic } from 'ethers';
import { DEV_ACCOUNTS, DEV_MNEMONIC } from '../../src/dev/dev-accounts.js';
import { callRpc } from '../../src/dev/json-rpc.js';
import type { HistoryEntry } from '../../src/modules/events/index.js';
import { type RunningAnvil, startAnvil } from '../support/anvil.js';
import { readChain } from '../support/chain-reader.js';
import { Service } from '../support/service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const REQUIRED = 3;
const NEVER_BY_ITSELF = 3_600;

let anvil: RunningAnvil;
let database: TestDatabase;
let service: Service;

beforeAll(async () => {
  [anvil, database] = await Promise.all([startAnvil({ blockTime: NEVER_BY_ITSELF }), createTestDatabase()]);
  service = await Service.start({
    databaseUrl: database.url,
    rpcUrl: anvil.url,
    config: { confirmations: { required: REQUIRED }, resubmit: { interval: '500ms' } },
  });
});

afterAll(async () => {
  await service.stop();
  await anvil.stop();
  await database.drop();
});

describe('a transaction that was sent with our key by somebody else', () => {
  it('takes the nonce, and the payload is executed once with another', async () => {
    const data = '0xff';
    const txId = await create(0, data);
    await reaches(txId, 'IN_MEMPOOL');
    const foreign = await outbid(0);
    await mine(1);
    await until('the disagreement is found', async () => (await read(txId))['subState'] === 'NONCE_SYNC');
    const before = await history(txId);
    await until('it moved, and is confirmed', async () => {
      await mine(1);
      return (await read(txId))['state'] === 'CONFIRMED';
    });

    expect(before.map(({ reason }) => reason)).not.toContain('nonce_synced');
    expect(await history(txId)).toContainEqual(
      expect.objectContaining({ reason: 'nonce_synced', detail: { nonce: '0', usedBy: foreign } }),
    );
    expect(await read(txId)).toMatchObject({ nonce: 1, subState: null });
    expect(await executions(data)).toBe(1);
  });
});

describe('a reorg', () => {
  it.each([
    ['of one block', 1, 1],
    ['one short of what is required', REQUIRED - 1, REQUIRED - 1],
    ['deeper than what is required', REQUIRED + 1, REQUIRED + 3],
  ])('%s has the transaction mined again in another block, once', async (_words, blocks, depth) => {
    const data = `0x0${depth}`;
    const txId = await create(1, data);
    await reaches(txId, 'IN_MEMPOOL');
    await mine(blocks);
    await reaches(txId, 'MINED');
    if (blocks > REQUIRED) {
      // Of one endpoint a head counts when a later one was seen.
      await mine(1);
      await reaches(txId, 'CONFIRMED');
    }
    const { receipt: first } = await read(txId);
    await callRpc(anvil.url, 'anvil_reorg', [depth, []]);
    await until('it is confirmed in another block', async () => {
      await mine(1);
      const { state, receipt } = await read(txId);
      return state === 'CONFIRMED' && blockOf(receipt) !== blockOf(first);
    });

    const told = (await history(txId)).flatMap(({ reason, detail }) =>
      detail && 'newFork' in detail ? [{ reason, newFork: detail['newFork'] }] : [],
    );
    expect(told).toContainEqual({ reason: 'reorg_detected', newFork: true });
    expect(told.slice(-2)).toEqual([
      { reason: 'mined', newFork: false },
      { reason: 'confirmed', newFork: false },
    ]);
    expect(await executions(data)).toBe(1);
  });
});

async function create(account: number, data: string): Promise<string> {
  const signer = DEV_ACCOUNTS[account];
  const { body } = await service.post('/api/v1/tx', {
    signer,
    requestId: `request-${account}-${data}`,
    payload: { to: DEV_ACCOUNTS[9], data, gasLimit: '60000' },
  });
  return String(body['txId']);
}

async function read(txId: string): Promise<Readonly<Record<string, unknown>>> {
  return (await service.get(`/api/v1/tx/${txId}`)).body;
}

async function history(txId: string): Promise<readonly HistoryEntry[]> {
  const { body } = await service.get<{ readonly items: readonly HistoryEntry[] }>(`/api/v1/tx/${txId}/history`);
  return body.items;
}

function reaches(txId: string, state: string): Promise<void> {
  return until(`it is ${state}`, async () => (await read(txId))['state'] === state);
}

async function mine(blocks: number): Promise<void> {
  await callRpc(anvil.url, 'anvil_mine', [`0x${blocks.toString(16)}`]);
}

/** Another wallet with the same key replaces what is in the pool at the account's next nonce. */
/** @returns the hash */
async function outbid(account: number): Promise<string> {
  const provider = new JsonRpcProvider(anvil.url);
  const wallet = HDNodeWallet.fromMnemonic(Mnemonic.fromPhrase(DEV_MNEMONIC), `m/44'/60'/0'/0/${account}`).connect(
    provider,
  );
  const fee = 500_000_000_000n;
  const nonce = await provider.getTransactionCount(wallet.address, 'latest');
  const { hash } = await wallet.sendTransaction({
    // Not to itself without a value: that would be the no-op of a cancel (docs/invariants.md, I16).
    to: DEV_ACCOUNTS[9],
    value: 1n,
    nonce,
    maxFeePerGas: fee,
    maxPriorityFeePerGas: fee,
    gasLimit: 21_000,
  });
  provider.destroy();
  return hash;
}

async function executions(data: string): Promise<number> {
  return (await readChain(anvil.url)).filter(({ input }) => input === data).length;
}

function blockOf(receipt: unknown): unknown {
  return (receipt as { readonly blockHash?: string } | null)?.blockHash;
}
