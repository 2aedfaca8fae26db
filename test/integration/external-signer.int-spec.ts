import { describe, expect, it } from '@jest/globals';
import { ANYONE } from '../../src/kernel/caller.js';
import { parseSigner } from '../../src/kernel/signer-id.js';
import { CloseHold } from '../../src/modules/commands/application/close-hold.js';
import { SubmitCommand } from '../../src/modules/commands/application/submit-command.js';
import { NO_PAYLOAD } from '../../src/modules/ledger/domain/tx-request.js';
import { SlotQueries } from '../../src/modules/ops/application/slot-queries.js';
import { ExplainTx } from '../../src/modules/ops/application/explain-tx.js';
import { SignerOverview } from '../../src/modules/ops/application/signer-overview.js';
import { Database } from '../../src/platform/database/database.js';
import { DEV_ACCOUNTS, DEV_MNEMONIC } from '../../src/dev/dev-accounts.js';
import { anOrder, aRequest, DEV_CHAIN } from '../support/builders.js';
import type { ModelTx } from '../support/model-chain.js';
import { makeWaitingDue, nodeLab } from '../support/node-lab.js';
import { refused } from '../support/send-faults.js';
import type { TestNode } from '../support/test-node.js';
import { until } from '../support/until.js';

/* A signer whose key outside senders have, and no node: its nonces are given and watched, and nothing is signed for it. */

const SIGNER = parseSigner(`${DEV_CHAIN}`, DEV_ACCOUNTS[0]);
const HOLD = { hold: { ttl: null, count: 1, index: 0 }, payload: NO_PAYLOAD, expiresAt: null };
const lab = nodeLab({ signers: [{ type: 'external', addresses: [SIGNER.address] }] });

/** Nonces for an outside sender, given. */
async function holds(...tags: number[]): Promise<string[]> {
  const ids: string[] = [];
  for (const tag of tags) ids.push(await lab.create(tag, HOLD));
  await lab.node.step();
  return ids;
}

function outsideSends(nonce: bigint): ModelTx {
  return lab.chain.sendForeign(SIGNER.address, nonce);
}

async function expire(txId: string, ago = '1 second'): Promise<void> {
  const text = 'UPDATE managed_tx SET expires_at = clock_timestamp() - $2::interval WHERE tx_id = $1';
  await lab.node.get(Database).query({ name: 'test_expire_one', text }, [txId, ago]);
}

/** The next owner of the signer has its key. */
async function withKey(): Promise<TestNode> {
  await lab.node.releaseLeases();
  return lab.startNode({ signers: [{ type: 'mnemonic', phrase: DEV_MNEMONIC, count: 1 }] });
}

/** Two looks, at different blocks. */
async function lookTwice(node = lab.node): Promise<void> {
  await node.holds();
  lab.chain.mineEmpty();
  await node.follow();
  await node.holds();
}

async function told(): Promise<unknown[]> {
  const text = "SELECT reason, detail FROM tx_event WHERE tx_id IS NULL AND reason LIKE 'nonce_gap%' ORDER BY seq";
  const { rows } = await lab.node
    .get(Database)
    .query<{ reason: string; detail: { nonce: number } }>({ name: 'test_gap_events', text }, []);
  return rows.map(({ reason, detail }) => [reason, detail.nonce]);
}

async function gapShown(node = lab.node): Promise<unknown> {
  const [signer] = await node.get(SignerOverview).list(null, 10, ANYONE);
  expect(signer?.custody).toEqual({ type: 'external' });
  return signer?.nonceGap?.nonce ?? null;
}

async function explained(txId: string, node = lab.node): Promise<string[]> {
  const found = await node.get(ExplainTx).execute(txId, ANYONE);
  return found ? [found.explanation.summary, found.explanation.next.what, ...found.explanation.operator] : [];
}

async function slots(): Promise<string[]> {
  const { items } = await lab.node.get(SlotQueries).list(SIGNER, { limit: 100 }, ANYONE);
  return items.map(({ nonce, use }) => `${nonce} ${use}`).reverse();
}

const nonces = (txIds: readonly string[], node = lab.node) =>
  Promise.all(txIds.map(async (txId) => (await node.tx(txId)).nonce));

/** A gap at the nonce 0, with a hold behind it. */
async function gap(): Promise<string[]> {
  const ids = await holds(1, 2);
  await expire(ids[0] ?? '');
  await lookTwice();
  await lab.node.step();
  expect(await lab.states(ids)).toEqual(['CANCELLED', 'ALLOCATED']);
  return ids;
}

describe('a payload of an external signer', () => {
  it('is refused, and not stored', async () => {
    await expect(lab.create(1)).rejects.toMatchObject({ code: 'external_signer', kind: 'unprocessable' });
    expect(await slots()).toEqual([]);
  });

  it('that came by a node which does not know better gets no nonce, and fails', async () => {
    const other = await lab.startNode({ signers: [{ type: 'elsewhere', addresses: [SIGNER.address] }] });
    const { txId } = await other.create({
      ...aRequest(),
      signer: SIGNER,
    });
    const [hold] = await holds(2);
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'FAILED', nonce: null });
    expect((await lab.node.tx(txId)).failureReason).toContain('external_signer');
    expect(await nonces([hold ?? ''])).toEqual([0]);
  });
});

describe('a hold of an external signer', () => {
  it('is watched to finality, and a reorg brings it back; many have all that may be in flight', async () => {
    const ids = await holds(...Array.from({ length: 64 }, (_, i) => i));
    expect(await nonces(ids)).toEqual(ids.map((_, i) => i));
    const sent = outsideSends(0n);
    await lab.node.holds();
    await lab.mine();
    expect(await lab.node.tx(ids[0] ?? '')).toMatchObject({ state: 'MINED', txHash: sent.hash });
    lab.chain.reorg(1);
    await lab.node.follow();
    expect(await lab.states([ids[0] ?? ''])).toEqual(['IN_MEMPOOL']);
    await lab.confirmAll();
    expect(await lab.states(ids.slice(0, 2))).toEqual(['CONFIRMED', 'ALLOCATED']);
    expect(lab.chain.sent).toEqual([]);
  });

  it('that is over, and that not every endpoint shows unused, stays: nothing can compete for its nonce', async () => {
    const [id = ''] = await holds(1, 2);
    lab.chain.equalCounts = async (accounts) => accounts.map(() => null);
    await expire(id, '1 hour');
    await lookTwice();
    await lookTwice();
    await lab.live(2);
    expect([await lab.states([id]), lab.chain.sent]).toEqual([['ALLOCATED'], []]);
    const said = await explained(id);
    expect(said.join(' ')).toMatch(/it is given back as soon as .* Lockstep has no key of the signer/);
    expect(said.join(' ')).not.toContain('no-op');
  });

  it('is not closed by an operator: neither at the door, nor by its owner', async () => {
    const [holdId = ''] = await holds(1);
    const input = { sender: ANYONE, requestId: null, holdId, reason: 'lost' };
    await expect(lab.node.get(CloseHold).execute({ signer: SIGNER, nonce: 0n }, input)).rejects.toMatchObject({
      code: 'external_signer',
    });
    const { command } = await lab.node.get(SubmitCommand).execute(anOrder('close', holdId));
    await lab.node.commands();
    expect(await lab.states([holdId])).toEqual(['ALLOCATED']);
    const text = 'SELECT status, refusal FROM tx_command WHERE command_id = $1';
    const { rows } = await lab.node.get(Database).query({ name: 'test_command', text }, [command.commandId]);
    expect(rows).toEqual([{ status: 'REFUSED', refusal: expect.stringContaining('external') }]);
  });
});

describe('a gap of an external signer', () => {
  it('is not filled, but shown and told once, whoever owns the signer; the next reserve closes it', async () => {
    const [, behind = ''] = await gap();
    expect([await slots(), await lab.fills(), lab.chain.sent]).toEqual([['0 gap', '1 hold'], [], []]);
    await lab.live(1);
    await lab.node.holds();
    const next = await lab.takeOver();
    await next.step();
    await next.holds();
    expect(await told()).toEqual([['nonce_gap', 0]]);
    expect(await gapShown(next)).toBe(0);
    expect((await explained(behind, next)).join(' ')).toContain("The lower nonce 0 is nobody's");
    const closing = await lab.create(3, HOLD);
    await makeWaitingDue(next);
    await next.step();
    await next.holds();
    await next.holds();
    expect(await nonces([closing], next)).toEqual([0]);
    expect(await told()).toEqual([
      ['nonce_gap', 0],
      ['nonce_gap_closed', 0],
    ]);
    expect([await gapShown(next), lab.chain.sent]).toEqual([null, []]);
  });

  it('is closed by the next reserve when more is in flight than may be', async () => {
    const [lowest = ''] = await holds(1, 2, 3, 4);
    await lab.node.get(SubmitCommand).execute(anOrder('release', lowest));
    await lab.node.commands();
    await lab.node.releaseLeases();
    const narrow = await lab.startNode({ execution: { inFlightStart: 2, maxInFlight: 2 } });
    const ids = [await lab.create(5, HOLD), await lab.create(6, HOLD)];
    for (let steps = 0; steps < 2; steps += 1) {
      await makeWaitingDue(narrow);
      await narrow.step();
    }
    expect(await nonces(ids, narrow)).toEqual([0, null]);
  });

  it('is told closed when a node has the key, which fills it', async () => {
    await gap();
    await lab.node.holds();
    const keyed = await withKey();
    await keyed.step();
    await keyed.holds();
    expect(await told()).toEqual([
      ['nonce_gap', 0],
      ['nonce_gap_closed', 0],
    ]);
    expect(await lab.fills(keyed)).toHaveLength(1);
  });

  it('is told closed when what is above it is in a block, because its sender used it without a word', async () => {
    await gap();
    await lab.node.holds();
    outsideSends(0n);
    outsideSends(1n);
    await lab.node.holds();
    await lab.mine();
    await lab.node.holds();
    expect(await told()).toEqual([
      ['nonce_gap', 0],
      ['nonce_gap_closed', 0],
    ]);
    expect(await nonces(await holds(3))).toEqual([2]);
  });

  it('that its sender uses all the same is closed by the chain', async () => {
    await gap();
    outsideSends(0n);
    await lab.confirmAll();
    await lab.node.step();
    await holds(3);
    await lab.node.holds();
    expect(await told()).toEqual([
      ['nonce_gap', 0],
      ['nonce_gap_closed', 0],
    ]);
  });

  it('is told as the lowest one, and then the next', async () => {
    const ids = await holds(1, 2, 3);
    for (const id of ids.slice(0, 2)) {
      await lab.node.get(SubmitCommand).execute(anOrder('release', id));
      await lab.node.commands();
    }
    await lab.node.holds();
    await holds(4);
    await lab.node.holds();
    await holds(5);
    await lab.node.holds();
    expect(await told()).toEqual([
      ['nonce_gap', 0],
      ['nonce_gap', 1],
      ['nonce_gap_closed', 1],
    ]);
  });
});

it('a nonce that nobody named the use of, and that a reorg frees, goes to the next reserve', async () => {
  lab.chain.namesUsers = false;
  const ids = await holds(1, 2);
  await lab.node.releaseLeases();
  const node = await lab.startNode({ confirmations: { required: 2, staleReceiptTimeout: '1ms' } });
  await node.step();
  outsideSends(0n);
  lab.chain.mine();
  let blocks = 1;
  await until('its use is final', async () => {
    await node.follow();
    await node.holds();
    await lab.checkReceipts(node);
    lab.chain.mineEmpty(2);
    blocks += 2;
    return (await node.tx(ids[0] ?? '')).state === 'DROPPED';
  });
  await node.follow();
  lab.chain.reorg(blocks, { drop: true });
  await until('it is free', async () => {
    await node.follow();
    lab.chain.mineEmpty(1);
    return (await slots())[0] === '0 gap';
  });
  await node.holds();
  const closing = await lab.create(3, HOLD);
  await node.step();
  expect([await nonces([closing], node), await lab.fills(node), lab.chain.sent]).toEqual([[0], [], []]);
  expect(await told()).toEqual([['nonce_gap', 0]]);
});

it('what its sender sends without a word is watched, and nothing is signed for it or for what is below it', async () => {
  const sent = [outsideSends(0n), outsideSends(3n)];
  const ids = await holds(1);
  await lab.resubmit();
  lab.chain.mineEmpty(20);
  await lab.node.follow();
  await lab.node.bump();
  lab.chain.faults.broadcast = () => refused('oversized_data', 'oversized data');
  await lab.live(3);
  await lab.node.holds();
  expect(new Set(lab.chain.sent.map(({ hash }) => hash))).toEqual(new Set(sent.map(({ hash }) => hash)));
  expect([await nonces(ids), await slots()]).toEqual([[1], ['0 fill', '1 hold', '2 gap', '3 fill']]);
  expect(await told()).toEqual([['nonce_gap', 2]]);
});
