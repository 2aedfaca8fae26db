import { describe, expect, it } from '@jest/globals';
import { ANYONE } from '../../src/kernel/caller.js';
import { TxQueries } from '../../src/modules/ledger/application/views/tx-views.js';
import { MinedTxs } from '../../src/modules/ledger/index.js';
import { Database } from '../../src/platform/database/database.js';
import { nodeLab } from '../support/node-lab.js';
import type { TestNode } from '../support/test-node.js';
import { until } from '../support/until.js';

/* K8: the chain against our books. What was executed on a chain that was reset is not executed again. */

const lab = nodeLab();

/** Life goes on until something is so; the pauses of a held signer are real time. */
async function goOnUntil(what: string, isSo: () => Promise<boolean>, node: TestNode = lab.node): Promise<void> {
  await until(
    what,
    async () => {
      await lab.live(1, node);
      return isSo();
    },
    20_000,
  );
}

interface Behind {
  readonly cause: string;
  readonly chainNonce: number;
  readonly usedBelow: number;
}

async function rows<Row extends object>(text: string): Promise<Row[]> {
  const found = await lab.node.get(Database).query<Row>({ name: `test_${text.length}`, text }, []);
  return found.rows;
}

async function behind(): Promise<Behind | null> {
  const [row] = await rows<{ behind: Behind | null }>('SELECT behind FROM signer_nonce_cursor');
  return row?.behind ?? null;
}

const isHeld = async (): Promise<boolean> => (await behind()) !== null;
const isFree = async (): Promise<boolean> => (await behind()) === null;

async function signerEvents(): Promise<string[]> {
  const events = await rows<{ reason: string }>(
    "SELECT reason FROM tx_event WHERE tx_id IS NULL AND reason LIKE 'chain%' ORDER BY seq",
  );
  return events.map(({ reason }) => reason);
}

/** Three payloads that are final, and one in flight; the lane has begun. */
async function settledAndOpen(): Promise<string[]> {
  lab.chain.mineEmpty(20);
  const ids = [await lab.create(1), await lab.create(2), await lab.create(3)];
  await lab.node.step();
  await lab.confirmAll();
  ids.push(await lab.sent(4));
  expect(await lab.states(ids)).toEqual(['CONFIRMED', 'CONFIRMED', 'CONFIRMED', 'IN_MEMPOOL']);
  return ids;
}

describe.each([
  ['with another genesis', false],
  ['with the same genesis', true],
])('a chain that was reset under the same id, %s', (_how, sameGenesis) => {
  it('gets nothing of what was executed or is out, nor what is new, and says so once', async () => {
    const ids = await settledAndOpen();
    lab.chain.reset({ sameGenesis });
    const sent = lab.chain.sent.length;
    ids.push(await lab.create(5));
    await goOnUntil('the signer is held', isHeld);
    await lab.live(5);
    expect(await behind()).toMatchObject({ cause: 'CHAIN_RESET', chainNonce: 0, usedBelow: 3 });
    expect(await lab.states(ids)).toEqual(['CONFIRMED', 'CONFIRMED', 'CONFIRMED', 'IN_MEMPOOL', 'PENDING']);
    expect([lab.chain.sent.length - sent, lab.chain.minedTxs()]).toEqual([0, []]);
    expect(await signerEvents()).toEqual(['chain_behind']);
  });
});

describe('a signer that is held because its chain is behind', () => {
  it('stays held by the next owner and after a restart, before anything is sent', async () => {
    await settledAndOpen();
    lab.chain.reset();
    await goOnUntil('the signer is held', isHeld);
    const next = await lab.takeOver();
    const sent = lab.chain.sent.length;
    await lab.live(5, next);
    expect([lab.chain.sent.length - sent, await isHeld()]).toEqual([0, true]);
    expect(await signerEvents()).toEqual(['chain_behind']);
  });

  it('is held by a node that starts after the reset, before anything is sent', async () => {
    await settledAndOpen();
    lab.chain.reset();
    const sent = lab.chain.sent.length;
    const next = await lab.takeOver();
    await goOnUntil('the signer is held', isHeld, next);
    expect(lab.chain.sent.length - sent).toBe(0);
  });

  it('goes on by itself when the endpoint had shown a wrong chain', async () => {
    const ids = await settledAndOpen();
    const restore = lab.chain.reset();
    await goOnUntil('the signer is held', isHeld);
    restore();
    await goOnUntil('the signer is free', isFree);
    await goOnUntil('all is final', async () => (await lab.states(ids)).every((state) => state === 'CONFIRMED'));
    expect(lab.chain.minedTxs().map(({ nonce }) => nonce)).toEqual([0n, 1n, 2n, 3n]);
    expect(await signerEvents()).toEqual(['chain_behind', 'chain_caught_up']);
  });

  it('leaves the other signers alone', async () => {
    await settledAndOpen();
    lab.chain.reset();
    await goOnUntil('the signer is held', isHeld);
    const other = await lab.create(9, { signer: lab.node.signer(1) });
    await lab.node.step(lab.node.signer(1));
    expect(await lab.states([other])).toEqual(['IN_MEMPOOL']);
  });
});

it('what was final on a chain that was reset is not read again with every block', async () => {
  lab.chain.mineEmpty(20);
  for (let tag = 1; tag <= 10; tag += 1) await lab.create(tag);
  await lab.node.step();
  await lab.confirmAll();
  const back = lab.chain.reset();
  lab.chain.mineEmpty(40);
  await lab.node.follow();
  const mined = lab.node.get(MinedTxs);
  const finalIn = mined.finalIn.bind(mined);
  const read: number[] = [];
  mined.finalIn = async (...args) => {
    const txs = await finalIn(...args);
    read.push(txs.length);
    return txs;
  };
  for (let block = 0; block < 65; block += 1) {
    lab.chain.mineEmpty();
    await lab.node.follow();
  }
  expect(read).toEqual([10]);
  back();
  lab.chain.reorg(5, { drop: true });
  lab.chain.mineEmpty(100);
  await lab.node.follow();
  const { items } = await lab.node
    .get(TxQueries)
    .list({ kind: 'payload', signer: lab.node.signer().address, limit: 100 }, ANYONE);
  expect(items.map(({ state }) => state)).toEqual(items.map(() => 'IN_MEMPOOL'));
});
