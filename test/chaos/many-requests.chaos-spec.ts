import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { DEV_ACCOUNTS } from '../support/anvil.js';
import { Cluster } from '../support/cluster.js';

const [BUSY, ONCE, SPELLED] = DEV_ACCOUNTS;

let cluster: Cluster;

beforeAll(async () => {
  cluster = await Cluster.start({ nodes: 3 });
});

afterAll(() => cluster.stop());

/** The load happened, because every node counts the creates it has taken itself. */
it('1,000 concurrent creates on one signer through three nodes take the next 1,000 nonces', async () => {
  await Promise.all(Array.from({ length: 1_000 }, (_, n) => cluster.create(BUSY, `busy-${n}`)));
  for (const node of cluster.nodes) expect(await node.metric('tx_create_total')).toBeGreaterThan(200);
  await cluster.expectExactlyOnce();
});

/** They were one request, because every answer names the same tx, and exactly one node says that it was new. */
it('100 concurrent creates with one requestId over three nodes are one transaction', async () => {
  const body = { signer: ONCE, requestId: 'same', payload: { to: ONCE, value: '1' } };
  const answers = await Promise.all(Array.from({ length: 100 }, () => cluster.post('/api/v1/tx', body)));
  expect(new Set(answers.map(({ body: tx }) => (tx as { txId: string }).txId)).size).toBe(1);
  expect(answers.map(({ status }) => status).sort((a, b) => b - a)).toEqual([202, ...Array<number>(99).fill(200)]);
});

/** Line 19: what a node refuses is refused by all, and a spelling of an address is not another signer. */
it('one requestId under two spellings of the signer, at two nodes at once, is one transaction', async () => {
  const spellings = [SPELLED, SPELLED.toLowerCase(), SPELLED.toUpperCase().replace('0X', '0x')];
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      cluster.post('/api/v1/tx', { signer: spellings[n % 3], requestId: 'spelled', payload: { to: ONCE, value: '1' } }),
    ),
  );
  expect(new Set(answers.map(({ body: tx }) => (tx as { txId: string }).txId)).size).toBe(1);
  const other = { signer: SPELLED, requestId: 'spelled', payload: { to: ONCE, value: '2' } };
  for (const node of cluster.nodes) expect((await node.service.post('/api/v1/tx', other)).status).toBe(409);
});
