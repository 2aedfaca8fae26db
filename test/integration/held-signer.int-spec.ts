import { describe, expect, it } from '@jest/globals';
import { Database } from '../../src/platform/database/database.js';
import { loseAttempts, loseCommitsOfLanes } from '../support/lost-commits.js';
import { nodeLab } from '../support/node-lab.js';
import { RaceLab } from '../support/race-lab.js';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestNode } from '../support/test-node.js';

/** I16: until a lane is reconciled, nothing of it moves, neither by commands, nor by expiry, nor by edits of waiting txs. */
const lab = nodeLab();
const race = new RaceLab(lab);
const CONFIG = { confirmations: { required: 2, staleReceiptTimeout: '1ms' } };

async function run(text: string): Promise<void> {
  await lab.node.get(Database).dataSource.query(text);
}

/** A standby is promoted and everybody notices it; its signer is held, since no pool is shown. */
async function heldAfter(loss: (database: Database) => Promise<void>): Promise<TestNode> {
  lab.chain.showsPool = false;
  await lab.node.releaseLeases();
  await loss(lab.node.get(Database));
  await run(`INSERT INTO database_epoch (epoch, system_identifier, timeline, evidence, node_id)
             SELECT epoch + 1, system_identifier, timeline, 'new_timeline', node_id FROM database_epoch ORDER BY epoch DESC LIMIT 1`);
  const next = await lab.startNode(CONFIG, ({ nonce }) => Object.assign(nonce, { poolQuietTime: 300 }));
  await next.step();
  // It is held: the lane neither signs nor sends anything.
  expect(lab.chain.sent.map(({ hash }) => hash)).toHaveLength(1);
  return next;
}

/** Everything goes on as its timers would have it. */
async function goOn(node: TestNode, rounds = 8): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    await node.step();
    await node.commands();
    lab.chain.mine();
    lab.chain.mineEmpty(3);
    await node.follow();
    await lab.resubmit(node);
    await node.checkReceipts();
    // Held signers are looked at every half a second.
    await sleep(250);
  }
}

describe('a signer that is held, because what it sent is not all known', () => {
  it('does not execute both a payload and its replacement', async () => {
    const txId = await lab.sent(1);
    const next = await heldAfter(loseAttempts);
    const replacement = await race.replacement(txId, 2);
    await next.commands();
    await goOn(next);
    const what = [await lab.states([txId, replacement], next), [1, 2].map((tag) => lab.minedWith(tag).length)];
    expect(what).not.toEqual([
      ['REPLACED', 'CONFIRMED'],
      [1, 1],
    ]);
  });

  it('does not call a payload cancelled that is out, and executed', async () => {
    const txId = await lab.sent(1);
    const next = await heldAfter(loseAttempts);
    await race.cancel(txId);
    await next.commands();
    await goOn(next);
    expect([await lab.states([txId], next), lab.minedWith(1).length]).not.toEqual([['CANCELLED'], 1]);
  });

  it('does not call a payload expired that is out, and executed', async () => {
    const txId = await lab.sent(1);
    const next = await heldAfter(loseCommitsOfLanes);
    await run(`UPDATE managed_tx SET expires_at = clock_timestamp() - interval '1 second'`);
    await next.commands();
    await goOn(next);
    expect([await lab.states([txId], next), lab.minedWith(1).length]).not.toEqual([['DROPPED'], 1]);
  });

  it('does not edit a payload that is out: both would be executed', async () => {
    const txId = await lab.sent(1);
    const next = await heldAfter(loseCommitsOfLanes);
    await expect(race.replace(txId, 2, {}, next)).rejects.toMatchObject({ code: 'signer_in_doubt', retryable: true });
    await goOn(next);
    expect([1, 2].map((tag) => lab.minedWith(tag).length)).toEqual([1, 0]);
  });
});
