import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { TxView } from '../../src/modules/ledger/application/views/tx-views.js';
import { callRpc } from '../../src/dev/json-rpc.js';
import { DEV_ACCOUNTS, type RunningAnvil, startAnvil } from '../support/anvil.js';
import { Service } from '../support/service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const CODE = `0x${'c0de'.repeat(10)}`;
const AUTHORITIES = 3;

let anvil: RunningAnvil;
let database: TestDatabase;
let nodes: Service[];

beforeAll(async () => {
  const onEachSecond = { extraArgs: ['--hardfork', 'prague', '--block-time', '1'] };
  [anvil, database] = await Promise.all([startAnvil(onEachSecond), createTestDatabase()]);
  const options = { databaseUrl: database.url, rpcUrl: anvil.url, config: { confirmations: { required: 2 } } };
  nodes = [await Service.start(options), await Service.start(options)];
});

afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  await anvil.stop();
  await database.drop();
});

async function create(requestId: string, account: number, payload: object): Promise<string> {
  const [node] = nodes;
  const body = { signer: DEV_ACCOUNTS[account], requestId, payload: { to: CODE, value: '0', ...payload } };
  const answer = await node?.post<TxView>('/api/v1/tx', body);
  expect(answer?.status).toBe(202);
  return answer?.body.txId ?? '';
}

async function view(txId: string): Promise<TxView | undefined> {
  return (await nodes[1]?.get<TxView>(`/api/v1/tx/${txId}`))?.body;
}

it('signers of two nodes delegate in transactions of another signer, between payloads of their own', async () => {
  const ids: string[] = [];
  for (let n = 1; n <= AUTHORITIES; n += 1) {
    ids.push(await create(`before-${n}`, n, {}));
    ids.push(await create(`delegates-${n}`, 0, { authorizationList: [{ address: CODE, signer: DEV_ACCOUNTS[n] }] }));
    ids.push(await create(`after-${n}`, n, {}));
  }
  await until('all are final', async () => (await Promise.all(ids.map(view))).every((tx) => tx?.state === 'CONFIRMED'));
  for (const account of DEV_ACCOUNTS.slice(1, 1 + AUTHORITIES))
    expect(await callRpc(anvil.url, 'eth_getCode', [account, 'latest'])).toBe(`0xef0100${CODE.slice(2)}`);
});
