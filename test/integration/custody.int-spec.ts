import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Wallet } from 'ethers';
import { Text } from '../../src/config/config-fields.js';
import { CustodyEntry, type CustodyKey } from '../../src/custody/custody-entry.js';
import { CUSTODY_TYPES } from '../../src/custody/custody-types.js';
import { localKey } from '../../src/custody/local-key.js';
import { DEV_MNEMONIC } from '../../src/dev/dev-accounts.js';
import { Database } from '../../src/platform/database/database.js';
import { anAddress, aRequest, DEV_CHAIN } from '../support/builders.js';
import { makeWaitingDue, nodeLab } from '../support/node-lab.js';
import { RaceLab } from '../support/race-lab.js';
import { refused } from '../support/send-faults.js';
import type { TestNode } from '../support/test-node.js';

const KEY = `0x${'31'.repeat(32)}`;

/** Says that it has one key, and signs with another one while it is confused. */
class ConfusedCustody extends CustodyEntry {
  static isConfused = true;

  @Text({ required: true })
  key = '';

  async keys(): Promise<readonly CustodyKey[]> {
    const own = localKey(new Wallet(this.key), { type: 'confused' });
    const other = localKey(new Wallet(`0x${'32'.repeat(32)}`), { type: 'confused' });
    return [{ ...own, sign: (items) => (ConfusedCustody.isConfused ? other : own).sign(items) }];
  }
}

beforeAll(() => {
  CUSTODY_TYPES['confused'] = ConfusedCustody;
});
afterAll(() => {
  delete CUSTODY_TYPES['confused'];
});

const lab = nodeLab();
const race = new RaceLab(lab);

beforeEach(() => {
  ConfusedCustody.isConfused = true;
});

/** The first signer of the node has the confused custody. */
const startNode = (): Promise<TestNode> =>
  lab.startNode({
    signers: [
      { type: 'confused', key: KEY },
      { type: 'mnemonic', phrase: DEV_MNEMONIC, count: 1 },
    ],
  });

it('a custody that signs with another key has nothing stored and nothing sent, and holds up no other signer', async () => {
  const node = await startNode();
  const signers = [node.signer(0), node.signer(1)];
  const ids: string[] = [];
  for (const signer of signers) ids.push((await node.create({ ...aRequest(), signer })).txId);
  const [id = ''] = ids;
  for (const _ of [1, 2]) {
    await node.step(...signers);
    expect(await lab.states(ids)).toEqual(['ALLOCATED', 'IN_MEMPOOL']);
    expect(await node.tx(id)).toMatchObject({
      subState: 'SIGNER_UNAVAILABLE',
      lastError: expect.stringContaining('custody'),
      nonce: 0,
    });
    expect([await attemptsOf(node, id), lab.chain.pooled().length]).toEqual([[], 1]);
  }
  ConfusedCustody.isConfused = false;
  await node.step(...signers);
  expect(await node.tx(id)).toMatchObject({ state: 'IN_MEMPOOL', subState: null, lastError: null, nonce: 0 });
});

describe('a custody that signs with another key than before', () => {
  /** Each prepares something that has to be signed, and gives what signs it. */
  it.each<[string, (node: TestNode, txId: string) => Promise<() => Promise<void>>]>([
    [
      'a bump',
      async (node) => async () => {
        for (let block = 0; block < 5; block += 1) {
          lab.chain.mineEmpty();
          await node.follow();
          await node.bump();
        }
      },
    ],
    [
      'a speed-up',
      async (node, txId) => {
        await race.speedUp(txId, null, node);
        return () => node.commands();
      },
    ],
    [
      'a no-op',
      async (node, txId) => {
        await race.cancel(txId, null, node);
        await node.commands();
        return () => lab.resubmit(node);
      },
    ],
    [
      'a replacement',
      async (node, txId) => {
        await race.replace(txId, 2, {}, node);
        return () => node.commands();
      },
    ],
  ])('has nothing stored and nothing sent for %s, until it signs again', async (_what, prepare) => {
    const [node, txId] = await firstSent();
    await signsOnlyWhenItIsItself(node, await prepare(node, txId));
  });

  it('has nothing stored and nothing sent for a new price, until it signs again', async () => {
    lab.chain.faults.broadcast = () => refused('underpriced', 'underpriced');
    const [node] = await firstSent();
    delete lab.chain.faults.broadcast;
    await signsOnlyWhenItIsItself(node, () => lab.resubmit(node));
  });

  it('gives no nonce to an authorization, and the tx that wants it is not sent, until it signs again', async () => {
    const node = await startNode();
    const [authority, signer] = [node.signer(0), node.signer(1)];
    const wanted = { chainId: BigInt(DEV_CHAIN), address: anAddress(0xc0de), authority: authority.address };
    const base = aRequest();
    await node.create({ ...base, signer, payload: { ...base.payload, authorizationList: [wanted] } });
    await signsOnlyWhenItIsItself(node, async () => {
      await node.step(authority, signer);
      await node.authorizations();
      await makeWaitingDue(node);
      await node.step(authority, signer);
    });
  });
});

/** A tx of the confused signer, with an attempt by the right key. */
async function firstSent(): Promise<[TestNode, string]> {
  const node = await startNode();
  ConfusedCustody.isConfused = false;
  const { txId } = await node.create({ ...aRequest(), signer: node.signer() });
  await node.step();
  ConfusedCustody.isConfused = true;
  return [node, txId];
}

/** What signs is done once with the wrong key, and once with the right one. */
async function signsOnlyWhenItIsItself(node: TestNode, act: () => Promise<void>): Promise<void> {
  const before = await written(node);
  await act();
  expect(await written(node)).toEqual(before);
  ConfusedCustody.isConfused = false;
  await act();
  const { attempts, sent, slots } = await written(node);
  expect([attempts.length - before.attempts.length, sent.length - before.sent.length]).toEqual([1, 1]);
  expect(slots.length).toBeGreaterThanOrEqual(before.slots.length);
}

/** What was ever signed, sent, and reserved for it. */
async function written(node: TestNode): Promise<Record<'attempts' | 'sent' | 'slots', unknown[]>> {
  const { rows: slots } = await node.get(Database).query(SLOTS, []);
  return { attempts: await attemptsOf(node, null), sent: [...new Set(lab.chain.sent.map(({ hash }) => hash))], slots };
}

const SLOTS = { name: 'test_slots', text: 'SELECT signer, nonce, status FROM signer_nonce_allocation ORDER BY 1, 2' };

async function attemptsOf(node: TestNode, txId: string | null): Promise<unknown[]> {
  return (await node.get(Database).query(ATTEMPTS, [txId])).rows;
}

const ATTEMPTS = {
  name: 'test_attempts',
  text: 'SELECT tx_hash FROM tx_attempt WHERE $1::uuid IS NULL OR tx_id = $1 ORDER BY 1',
};
