import { expect, it } from '@jest/globals';
import { PgTxSurroundings } from '../../src/modules/ops/infrastructure/pg-tx-surroundings.js';
import { TxQueries } from '../../src/modules/ledger/index.js';
import { ReadDatabase } from '../../src/platform/database/pools.js';
import { nodeLab } from '../support/node-lab.js';

const lab = nodeLab();

const around = (txId: string, most = 100) =>
  new PgTxSurroundings(lab.node.get(ReadDatabase), lab.node.get(TxQueries)).of(txId, lab.node.signer(), most);

it('PgTxSurroundings counts what is ahead of a waiting tx, by priority and age, and no more than it may', async () => {
  const [first, second, third, urgent] = [
    await lab.create(1),
    await lab.create(2),
    await lab.create(3),
    await lab.create(4, { priority: 5 }),
  ];
  const ahead = await Promise.all(
    [first, second, third, urgent].map(async (id) => (await around(id))?.waitingAhead.count),
  );
  expect(ahead).toEqual([1, 2, 3, 0]);
  expect((await around(third, 2))?.waitingAhead.count).toBe(2);
  expect(await around(third)).toMatchObject({ inFlight: 0, blockedBy: null, leaseOwner: null, command: null });
});

it('PgTxSurroundings says what is in flight, who acts, and which nonce blocks', async () => {
  const [first, second] = [await lab.create(1), await lab.create(2)];
  await lab.node.step();
  const found = await around(second);
  expect(found).toMatchObject({
    inFlight: 2,
    inFlightAhead: 1,
    blockedBy: { txId: first, nonce: 0n, state: 'IN_MEMPOOL', heldBy: null },
    waitingAhead: { count: 0 },
    paused: null,
  });
  expect([found?.leaseOwner === null, (found?.committed ?? 0n) > 0n]).toEqual([false, true]);
  expect((await around(first))?.blockedBy).toBeNull();
});

it('PgTxSurroundings knows nothing of a tx that does not exist', async () => {
  expect(await around('00000000-0000-7000-8000-000000000000')).toBeNull();
});
