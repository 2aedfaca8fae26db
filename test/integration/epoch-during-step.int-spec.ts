import { expect, it } from '@jest/globals';
import { Database } from '../../src/platform/database/database.js';
import { DatabaseWatch } from '../../src/platform/database/database-watch.js';
import { Standby } from '../support/lost-commits.js';
import { nodeLab } from '../support/node-lab.js';
import { RaceLab } from '../support/race-lab.js';

/** A heartbeat notices a new epoch while a lane step waits for the chain, to admit another signer of the same step. */
const lab = nodeLab();
const race = new RaceLab(lab);

async function promotedDuringStep(
  isDuring: boolean,
): Promise<{ state: string; executed: number; reconciled: string[] }> {
  const { node, chain } = lab;
  const txId = await lab.sent(1);
  const database = node.get(Database);
  await node.get(DatabaseWatch).check();
  // What follows never reaches the standby: the payload is cancelled, and its no-op is in the pool.
  const standby = await Standby.of(database);
  await race.cancel(txId);
  await node.commands();
  await lab.resubmit();
  expect(chain.pooled()).toMatchObject([{ data: '0x' }]);
  const fail = async (): Promise<void> => {
    await standby.promote(true);
    await node.get(DatabaseWatch).check();
  };
  if (isDuring) {
    const counts = chain.accountCounts.bind(chain);
    chain.accountCounts = async (accounts) => {
      chain.accountCounts = counts;
      const answer = await counts(accounts);
      await fail();
      return answer;
    };
  } else {
    await fail();
  }
  // Signer 1 begins in this step; signer 0 began long ago.
  await node.step(node.signer(0), node.signer(1));
  await node.step(node.signer(0), node.signer(1));
  await node.step(node.signer(0), node.signer(1));
  const { rows } = await database.query<{ signer: string }>(
    { name: 'test_reconciled', text: 'SELECT signer FROM signer_reconciliation WHERE epoch > 1 AND signer = $1' },
    [node.signer(0).address],
  );
  // All pools lost what they had, as after a restart, and what the database knows is sent again.
  chain.dropPool();
  for (let round = 0; round < 4; round += 1) {
    await node.step(node.signer(0), node.signer(1));
    await lab.resubmit();
    chain.mine();
    chain.mineEmpty(3);
    await node.follow();
    await node.checkReceipts();
  }
  const { state } = await node.tx(txId);
  return { state, executed: lab.minedWith(1).length, reconciled: rows.map(({ signer }) => signer) };
}

it('(control) reconciles a lane when the new epoch is noticed between two steps', async () => {
  expect(await promotedDuringStep(false)).toEqual({
    state: 'CANCELLED',
    executed: 0,
    reconciled: [lab.node.signer(0).address],
  });
});

it('reconciles a lane when the new epoch is noticed during a step', async () => {
  expect(await promotedDuringStep(true)).toEqual({
    state: 'CANCELLED',
    executed: 0,
    reconciled: [lab.node.signer(0).address],
  });
});
