import { beforeEach, describe, expect, it } from '@jest/globals';
import { Unavailable } from '../../src/kernel/errors.js';
import { FencedUnitOfWork, LeaseManager } from '../../src/modules/signers/index.js';
import { MarkReceiptsDue, ManagedTxRepository } from '../../src/modules/transactions/index.js';
import { Database } from '../../src/platform/database/database.js';
import { aRequest, DEV_CHAIN } from '../support/builders.js';
import { makeDue, nodeLab } from '../support/node-lab.js';
import type { TestNode } from '../support/test-node.js';

const lab = nodeLab();

describe('followers of signers that share a worker', () => {
  let node: TestNode;
  let ids: string[];
  /** From now on, what is written for the first signer times out. */
  const breakFirst = (): (() => void) => {
    const repository = node.get(ManagedTxRepository);
    const save = repository.save.bind(repository);
    repository.save = async (fence, txs) => {
      if (txs.some((tx) => tx.signer.address === node.signer(0).address))
        throw new Unavailable('database_unavailable', 'statement timeout', 'try again');
      return save(fence, txs);
    };
    return () => void (repository.save = save);
  };

  beforeEach(async () => {
    node = await lab.startNode({ worker: { concurrency: 1 } });
    const signers = [node.signer(0), node.signer(1), node.signer(2)];
    ids = [];
    for (const signer of signers) ids.push((await node.create({ ...aRequest(), signer })).txId);
    await node.step(...signers);
  });

  it('record what was mined for all but the one in trouble, and that one when its trouble is over', async () => {
    const mend = breakFirst();
    await lab.mine(node);
    expect(await lab.states(ids)).toEqual(['IN_MEMPOOL', 'MINED', 'MINED']);
    mend();
    lab.chain.mineEmpty(3);
    await node.follow();
    await makeDue(node);
    await node.checkReceipts();
    lab.chain.mineEmpty(1);
    await node.follow();
    expect((await lab.states(ids)).slice(1)).toEqual(['CONFIRMED', 'CONFIRMED']);
  });

  it('make final what is deep enough for all but the one in trouble', async () => {
    await lab.mine(node);
    breakFirst();
    lab.chain.mineEmpty(3);
    await node.follow();
    expect(await lab.states(ids)).toEqual(['MINED', 'CONFIRMED', 'CONFIRMED']);
  });

  it('follow the chain again from the same block when nothing could be written', async () => {
    const repository = node.get(ManagedTxRepository);
    const save = repository.save.bind(repository);
    repository.save = async () => {
      throw new Unavailable('database_unavailable', 'no connection', 'try again');
    };
    lab.chain.mine();
    await expect(node.follow()).rejects.toThrow();
    repository.save = save;
    await node.follow();
    expect(await lab.states(ids)).toEqual(['MINED', 'MINED', 'MINED']);
  });
});

/** More than two pages of one signer, and a few of another whose receipts are not asked for. */
const INSERT_IN_FLIGHT = {
  name: 'test_in_flight',
  text: `
    INSERT INTO managed_tx (tx_id, chain_id, signer, request_id, request_hash, value, data, options, priority, state, nonce, tx_hash)
    SELECT gen_random_uuid(), $1, $2, 'flying-' || n, h.hash, 0, '', '{"speed": "standard"}', 0, 'IN_MEMPOOL', n, h.hash
      FROM generate_series(1, $3::int) AS n, (SELECT '0x' || repeat('f', 64) AS hash) AS h`,
};

it('asks for the receipts of very many in transactions of a few thousand each', async () => {
  const { node } = lab;
  const database = node.get(Database);
  const [asked, other] = [node.signer(0), node.signer(1)];
  await database.query(INSERT_IN_FLIGHT, [DEV_CHAIN, asked.address, 12_000]);
  await database.query(INSERT_IN_FLIGHT, [DEV_CHAIN, other.address, 10]);
  const unitOfWork = node.get(FencedUnitOfWork);
  const run = unitOfWork.run.bind(unitOfWork);
  let transactions = 0;
  unitOfWork.run = (leases, operation, work) => {
    transactions += 1;
    return run(leases, operation, work);
  };
  await node.get(MarkReceiptsDue).execute(await node.get(LeaseManager).acquireOrRenew([asked]), 'test');
  const { rows } = await database.query<{ signer: string; due: string }>(
    {
      name: 'test_due',
      text: `SELECT signer, count(*) FILTER (WHERE next_receipt_check_at <= clock_timestamp()) AS due FROM managed_tx GROUP BY signer`,
    },
    [],
  );
  expect(new Map(rows.map(({ signer, due }) => [signer, Number(due)]))).toEqual(
    new Map([
      [asked.address, 12_000],
      [other.address, 0],
    ]),
  );
  expect(transactions).toBe(3);
});
