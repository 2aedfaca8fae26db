import { beforeEach, describe, expect, it } from '@jest/globals';
import { Database } from '../../src/platform/database/database.js';
import { tagged } from '../support/send-faults.js';
import type { ModelTx } from '../support/model-chain.js';
import { LeftFreeLab } from '../support/left-free-lab.js';
import { nodeLab } from '../support/node-lab.js';
import type { TestNode } from '../support/test-node.js';
import { until } from '../support/until.js';

/*
 * K8: a chain that puts a failed transaction into a block and leaves its nonce free. A no-op takes the nonce; the payload that failed is never
 * sent again, and when somebody else has it executed after all, its tx follows the chain.
 */

const lab = nodeLab();
const here = new LeftFreeLab(lab);
const { isHeld, areConfirmed } = here;

/** Of the payload that fails, with nonce 1, and of three behind it; 0 is final before. */
let failed: string;
let behindIt: string[];

/** It sees the chain, and changes it as little as it can. */
async function goOnOnce(node: TestNode): Promise<void> {
  await node.follow();
  lab.chain.mineEmpty();
  await node.follow();
}

/** The bytes of the payload that failed. */
const itsBytes = (): ModelTx => here.bytesOf(1);

const itsSends = (): number => lab.chain.sent.filter(({ data }) => data === tagged(1)).length;

beforeEach(async () => {
  lab.chain.mineEmpty(20);
  const first = await lab.mined(0);
  failed = await lab.sent(1);
  lab.chain.mineFailed(itsBytes());
  behindIt = [await lab.sent(2), await lab.sent(3), await lab.sent(4)];
  lab.chain.mineEmpty(3);
  await lab.node.follow();
  expect(await lab.states([first, failed, ...behindIt])).toEqual([
    'CONFIRMED',
    'FAILED',
    ...behindIt.map(() => 'IN_MEMPOOL'),
  ]);
  await here.goOnUntil('the signer is held', isHeld);
});

describe('the nonce that a failed transaction left free', () => {
  it('is shown, and is filled: all behind it go on, and it stays FAILED', async () => {
    const preview = await here.sync({ dryRun: true });
    expect(preview).toMatchObject({ behind: 'LOWER_NONCE', chain: { nonce: 1n }, refusal: null });
    expect(preview.leftFree.map(({ nonce, leftBy }) => [nonce, leftBy.id])).toEqual([[1n, failed]]);
    expect([await lab.fills(), await isHeld()]).toEqual([[], true]);
    const sends = itsSends();
    await here.goOnUntil('all behind it are final', areConfirmed(behindIt));
    await here.goOnUntil('the signer is free', async () => !(await isHeld()));
    await lab.live(5);
    expect(await lab.states([failed])).toEqual(['FAILED']);
    expect((await lab.fills()).map(({ state, nonce, replaces }) => [state, nonce, replaces])).toEqual([
      ['CONFIRMED', 1, failed],
    ]);
    expect([itsSends() - sends, lab.chain.minedTxs().map(({ nonce }) => nonce)]).toEqual([0, [0n, 1n, 1n, 2n, 3n, 4n]]);
    expect(await here.sync()).toMatchObject({ behind: null, leftFree: [], cursor: { before: 5n, after: 5n } });
  });

  it('is filled at once when a person asks for it', async () => {
    expect((await here.sync()).leftFree).toHaveLength(1);
    expect((await lab.fills()).map(({ nonce, replaces }) => [nonce, replaces])).toEqual([[1, failed]]);
  });

  it('is filled by the next owner, when the node that stored the fill died before it signed', async () => {
    await here.isLower();
    const quote = lab.chain.feeQuote.bind(lab.chain);
    lab.chain.feeQuote = async () => {
      if ((await lab.fills()).length > 0) throw new Error('the node died');
      return quote();
    };
    await here.fill();
    expect((await lab.fills()).map(({ state }) => state)).toEqual(['ALLOCATED']);
    lab.chain.feeQuote = quote;
    const next = await lab.takeOver();
    await here.goOnUntil('all behind it are final', areConfirmed(behindIt), next);
    expect([await lab.states([failed]), (await lab.fills()).length]).toEqual([['FAILED'], 1]);
  });

  it('is shown by every node, and filled by the owner of the signer alone', async () => {
    const other = await lab.startNode();
    await goOnOnce(other);
    expect((await here.sync({ dryRun: true, node: other })).leftFree).toHaveLength(1);
    await expect(here.sync({ node: other })).rejects.toMatchObject({ code: 'not_leader' });
    expect(await lab.fills()).toEqual([]);
  });

  it('is not filled when the chain says that what was executed used no nonce either: it lost blocks, or lies', async () => {
    lab.chain.transactionCounts = async (accounts) => accounts.map(() => 0n);
    expect(await here.sync({ dryRun: true })).toMatchObject({
      leftFree: [],
      refusal: { advice: expect.stringContaining('endpoints') },
    });
    await expect(here.sync()).rejects.toMatchObject({ code: 'chain_behind_books' });
    expect(await lab.fills()).toEqual([]);
  });

  it('is not filled when one above it was executed, however few are asked for', async () => {
    lab.chain.countsFailed = true;
    await here.goOnUntil('all behind it are final', areConfirmed(behindIt));
    await here.goOnUntil('the signer is free', async () => !(await isHeld()));
    lab.chain.transactionCounts = async (accounts) => accounts.map(() => 1n);
    await lab.create(5);
    await here.goOnUntil('the signer is held', isHeld);
    await expect(here.sync({ atMost: 1 })).rejects.toMatchObject({ code: 'chain_behind_books' });
    expect(await here.sync({ dryRun: true, atMost: 0 })).toMatchObject({
      refusal: { detail: expect.any(String) },
    });
    expect(await lab.fills()).toEqual([]);
  });

  it('is not filled by a node that does not act for the signer', async () => {
    await here.isLower();
    const next = await lab.takeOver();
    await here.fill();
    expect(await lab.fills()).toEqual([]);
    await here.goOnUntil('all behind it are final', areConfirmed(behindIt), next);
    expect(await lab.fills()).toHaveLength(1);
  });

  it('is not filled by itself when the chain shows that what was executed used no nonce either', async () => {
    await here.isLower();
    lab.chain.transactionCounts = async (accounts) => accounts.map(() => 0n);
    await here.fill();
    expect(await lab.fills()).toEqual([]);
  });

  it('is not filled when the chain does not show that the transaction failed', async () => {
    await here.isLower();
    const { hash } = itsBytes();
    lab.chain.faults.receipt = (asked) => (asked === hash ? { kind: 'none' } : undefined);
    await here.fill();
    expect(await lab.fills()).toEqual([]);
    await expect(here.sync()).rejects.toMatchObject({ code: 'chain_behind_books' });
    expect(await lab.fills()).toEqual([]);
  });

  it('is not needed when the chain uses it after all: the fill ends, and all behind it go on', async () => {
    await here.sync();
    lab.chain.countsFailed = true;
    await here.goOnUntil('all behind it are final', areConfirmed(behindIt));
    await here.goOnUntil('the fill has ended', async () => (await lab.openFills()).length === 0);
    expect((await lab.fills()).map(({ state }) => state)).toEqual(['DROPPED']);
    expect(await lab.states([failed])).toEqual(['FAILED']);
  });

  it('stays filled after a reorg of everything: what failed is not sent again', async () => {
    await here.sync();
    await here.goOnUntil('all behind it are final', areConfirmed(behindIt));
    const sends = itsSends();
    const { block } = lab.chain.minedBy(itsBytes().from, 0n) ?? {};
    lab.chain.reorg(lab.chain.height - (block?.number ?? 0), { drop: true });
    await lab.node.follow();
    await here.goOnUntil('all behind it are final again', areConfirmed(behindIt));
    expect([await lab.states([failed]), itsSends() - sends]).toEqual([['FAILED'], 0]);
  });
});

/* Whoever has its bytes may have it executed, as soon as its nonce is free. */
describe('a payload that failed, left its nonce free, and is executed after all', () => {
  const executions = (): number => here.executionsOf(1);

  async function storyOf(txId: string): Promise<string[]> {
    const { rows } = await lab.node
      .get(Database)
      .query<{ reason: string }>(
        { name: 'test_story', text: 'SELECT reason FROM tx_event WHERE tx_id = $1 ORDER BY xid, seq' },
        [txId],
      );
    return rows.map(({ reason }) => reason);
  }

  it('follows the chain: it is CONFIRMED, the fill is DROPPED, and nothing of it is sent again', async () => {
    await here.sync();
    const sends = itsSends();
    lab.chain.force(itsBytes());
    await here.goOnUntil('all are final', areConfirmed([failed, ...behindIt]));
    expect((await lab.fills()).map(({ state }) => state)).toEqual(['DROPPED']);
    expect([executions(), itsSends() - sends]).toEqual([1, 0]);
    expect((await storyOf(failed)).slice(-5)).toEqual(['failed', 'updated', 'reorg_detected', 'mined', 'confirmed']);
    await here.goOnUntil('the signer is free', async () => !(await isHeld()));
  });

  it('follows the chain also when nobody could read its receipt in its block', async () => {
    await here.sync();
    const { hash } = itsBytes();
    lab.chain.force(itsBytes());
    lab.chain.mine(1);
    lab.chain.faults.receipt = (asked) => (asked === hash ? { kind: 'unavailable', message: 'later' } : undefined);
    await lab.node.follow();
    await lab.live(3);
    expect(await lab.states([failed])).toEqual(['FAILED']);
    delete lab.chain.faults.receipt;
    await here.goOnUntil('all are final', areConfirmed([failed, ...behindIt]));
    expect((await lab.fills()).map(({ state }) => state)).toEqual(['DROPPED']);
  });

  it('follows the chain also when nobody filled its nonce, and its signer goes on', async () => {
    const sends = itsSends();
    lab.chain.force(itsBytes());
    lab.chain.mine(1);
    await here.goOnUntil('all are final', areConfirmed([failed, ...behindIt]));
    await here.goOnUntil('the signer is free', async () => !(await isHeld()));
    expect([await lab.fills(), executions(), itsSends() - sends]).toEqual([[], 1, 0]);
  });

  it.each([
    ['that nobody filled', false],
    ['that was filled', true],
  ])('is not sent again when a reorg takes its block: a no-op gets the nonce %s', async (_what, isFilled) => {
    if (isFilled) await here.sync();
    const sends = itsSends();
    lab.chain.force(itsBytes());
    lab.chain.mine(1);
    await goOnOnce(lab.node);
    expect(await lab.states([failed])).toEqual(['MINED']);
    await until('its lane goes on', async () => (await lab.node.step(), !(await isHeld())), 20_000);
    const { block } = lab.chain.minedBy(itsBytes().from, 1n) ?? {};
    lab.chain.reorg(lab.chain.height - (block?.number ?? 0) + 1, { drop: true });
    await lab.node.follow();
    await lab.resubmit();
    await here.goOnUntil('all behind it are final', areConfirmed(behindIt));
    expect(await lab.states([failed, ...behindIt])).toEqual(['FAILED', ...behindIt.map(() => 'CONFIRMED')]);
    expect([executions(), itsSends() - sends]).toEqual([0, 0]);
  });
});
