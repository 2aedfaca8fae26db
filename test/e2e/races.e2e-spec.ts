import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { JsonRpcProvider } from 'ethers';
import type { TxView } from '../../src/modules/ledger/application/views/tx-views.js';
import { isFinal } from '../../src/modules/ledger/domain/tx-state-machine.js';
import { DEV_ACCOUNTS, type RunningAnvil, startAnvil } from '../support/anvil.js';
import { countByInput, readChain } from '../support/chain-reader.js';
import { Service } from '../support/service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';
import { type Page } from '../../src/platform/http/page-cursor.js';

const TO = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

interface CommandAnswer {
  readonly commandId: string;
  readonly status: string;
  readonly refusal: string | null;
  readonly replacement: string | null;
  readonly tx: TxView;
}

interface AttemptFees {
  readonly gasLimit: string;
  readonly maxFeePerGas: string;
}

let anvil: RunningAnvil;
let database: TestDatabase;
let nodes: Service[];
let provider: JsonRpcProvider;
let payloads = 0;

beforeAll(async () => {
  [anvil, database] = await Promise.all([startAnvil({ extraArgs: ['--no-mining'] }), createTestDatabase()]);
  provider = new JsonRpcProvider(anvil.url, undefined, { staticNetwork: true, cacheTimeout: -1 });
  nodes = [await start(), await start()];
});

afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  provider.destroy();
  await anvil.stop();
  await database.drop();
});

function start(): Promise<Service> {
  return Service.start({ databaseUrl: database.url, rpcUrl: anvil.url, config: { confirmations: { required: 2 } } });
}

/** Each test asks another node first. */
function node(index: number): Service {
  const found = nodes[index % nodes.length];
  if (!found) throw new Error('no node was started');
  return found;
}
const mine = (): Promise<unknown> => provider.send('evm_mine', []);

/** Each payload is found on the chain by its call data. */
function newPayload(): { readonly data: string; readonly payload: object } {
  payloads += 1;
  const data = `0xaa${payloads.toString(16).padStart(8, '0')}`;
  return { data, payload: { to: TO, value: '0', data } };
}

/** A tx of a signer that no other test uses, out and not mined. */
async function sent(account: number, more: object = {}): Promise<{ readonly txId: string; readonly data: string }> {
  const { data, payload } = newPayload();
  const { status, body } = await node(account).post<TxView>('/api/v1/tx', {
    signer: DEV_ACCOUNTS[account],
    requestId: `tx-${data}`,
    payload,
    ...more,
  });
  expect(status).toBe(202);
  await reached(body.txId, ['IN_MEMPOOL']);
  return { txId: body.txId, data };
}

async function tx(txId: string): Promise<TxView> {
  return (await node(0).get<TxView>(`/api/v1/tx/${txId}`)).body;
}

async function reached(txId: string, states: readonly string[]): Promise<TxView> {
  await until(`${txId} is ${states.join(' or ')}`, async () => states.includes((await tx(txId)).state));
  return tx(txId);
}

/** Mines until it is final. */
async function final(txId: string): Promise<TxView> {
  await until(`${txId} is final`, async () => {
    await mine();
    return isFinal((await tx(txId)).state);
  });
  return tx(txId);
}

async function onChain(data: string): Promise<number> {
  return countByInput(await readChain(anvil.url)).get(data) ?? 0;
}

const attemptsOf = async (txId: string): Promise<readonly AttemptFees[]> =>
  (await node(0).get<Page<AttemptFees>>(`/api/v1/tx/${txId}/attempts`)).body.items;

describe('a client', () => {
  it('cancels a sent transaction at any node, and waits for the end with the same request', async () => {
    const { txId, data } = await sent(0);
    const cancelled = node(1).post<CommandAnswer>(`/api/v1/tx/${txId}/cancel?waitFor=CANCELLED&timeoutMs=30000`, {
      requestId: 'cancel-0',
    });
    await until('the no-op is out', async () => (await attemptsOf(txId)).length === 2);
    await final(txId);
    const { status, body } = await cancelled;
    expect([status, body.status, body.tx.state]).toEqual([202, 'DONE', 'CANCELLED']);
    const again = await node(0).post<CommandAnswer>(`/api/v1/tx/${txId}/cancel`, { requestId: 'cancel-0' });
    expect([again.status, again.body.commandId]).toEqual([200, body.commandId]);
    expect(await onChain(data)).toBe(0);
  });

  it('replaces a sent transaction, and only the replacement is executed', async () => {
    const { txId, data } = await sent(1);
    const { data: other, payload } = newPayload();
    const { status, body } = await node(0).post<CommandAnswer>(`/api/v1/tx/${txId}/replace`, {
      requestId: 'replace-1',
      payload,
    });
    expect([status, body.tx.replaces]).toEqual([202, txId]);
    const replacement = body.replacement ?? '';
    await reached(replacement, ['IN_MEMPOOL']);
    expect(await final(replacement)).toMatchObject({ state: 'CONFIRMED', replaces: txId });
    expect(await reached(txId, ['REPLACED'])).toMatchObject({ replacedBy: replacement });
    expect([await onChain(data), await onChain(other)]).toEqual([0, 1]);
    const late = await node(1).post<{ code: string; facts: { state: string } }>(`/api/v1/tx/${txId}/cancel`, {});
    expect([late.status, late.body.code, late.body.facts.state]).toEqual([409, 'already_final', 'REPLACED']);
  });

  it('speeds a sent transaction up, and one key does it once', async () => {
    const { txId } = await sent(2);
    const speedUp = (): Promise<{ status: number; body: CommandAnswer }> =>
      node(1).post<CommandAnswer>(`/api/v1/tx/${txId}/speed-up`, {}, { 'idempotency-key': 'faster' });
    expect((await speedUp()).status).toBe(202);
    await until('there is another attempt', async () => (await attemptsOf(txId)).length === 2);
    expect((await speedUp()).status).toBe(200);
    const [first, second, third] = await attemptsOf(txId);
    expect(BigInt(second?.maxFeePerGas ?? 0)).toBeGreaterThanOrEqual((BigInt(first?.maxFeePerGas ?? 0) * 9n) / 8n);
    expect(third).toBeUndefined();
    expect(await final(txId)).toMatchObject({ state: 'CONFIRMED' });
    const { body } = await node(0).get<Page<{ kind: string; status: string }>>(`/api/v1/tx/${txId}/commands`);
    expect(body.items).toMatchObject([{ kind: 'speed_up', status: 'DONE' }]);
    const path = `/api/v1/events?txId=${txId}&types=tx.submitted&after=0-0-0`;
    const events = await node(0).get<Page<{ data: object }>>(path);
    expect(events.body.items.map(({ data }) => data)).toMatchObject([
      { isFeeBump: false, gasLimit: null },
      { isFeeBump: true, gasLimit: second?.gasLimit },
    ]);
  });

  it('gets a sent transaction cancelled when it expires', async () => {
    const { txId, data } = await sent(3, { expiresAt: new Date(Date.now() + 3_000).toISOString() });
    await until('the no-op is out', async () => (await attemptsOf(txId)).length === 2);
    expect(await final(txId)).toMatchObject({ state: 'CANCELLED', failureReason: 'expired before it was mined' });
    expect(await onChain(data)).toBe(0);
  });

  it('learns what is wrong with a command', async () => {
    const { txId } = await sent(4);
    const wrong = await Promise.all([
      node(0).post<{ code: string }>('/api/v1/tx/nothing/cancel', {}),
      node(0).post<{ code: string }>(`/api/v1/tx/${txId}/replace`, newPayload()),
      node(0).post<{ code: string }>(`/api/v1/tx/${txId}/cancel`, { reason: 'none' }),
      node(0).post<{ code: string }>(`/api/v1/tx/${txId}/speed-up`, { fees: { maxFeePerGas: `1${'0'.repeat(39)}` } }),
    ]);
    expect(wrong.map(({ status, body }) => `${status} ${body.code}`)).toEqual([
      '404 tx_not_found',
      '400 unknown_field',
      '400 unknown_field',
      '400 invalid_fees',
    ]);
    expect(await final(txId)).toMatchObject({ state: 'CONFIRMED' });
  });
});
