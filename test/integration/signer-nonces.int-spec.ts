import { describe, expect, it } from '@jest/globals';
import { ANYONE } from '../../src/kernel/caller.js';
import type { SignerId } from '../../src/kernel/signer-id.js';
import { SubmitCommand } from '../../src/modules/commands/application/submit-command.js';
import { FundsRepository, NO_PAYLOAD } from '../../src/modules/ledger/index.js';
import { FindNonce } from '../../src/modules/ops/application/find-nonce.js';
import { ListNonces } from '../../src/modules/ops/application/list-nonces.js';
import { NonceStanding } from '../../src/modules/ops/application/nonce-standing.js';
import type { SlotFilter, SlotViewer } from '../../src/modules/ops/application/slot-queries.js';
import { PgSlotQueries } from '../../src/modules/ops/infrastructure/pg-slot-queries.js';
import { Database } from '../../src/platform/database/database.js';
import { ReadDatabase } from '../../src/platform/database/pools.js';
import { anOrder, aSigner } from '../support/builders.js';
import { ModelChains } from '../support/model-chain.js';
import { nodeLab } from '../support/node-lab.js';

const lab = nodeLab();
const STRANGER = { ...ANYONE, account: '019aa2f4-7a1c-7c3e-9a52-000000000001' };
const GRANT = '019aa2f4-7a1c-7c3e-9a52-000000000002';

function parts() {
  const slots = new PgSlotQueries(lab.node.get(ReadDatabase));
  const chains = new ModelChains(lab.chain);
  const standing = new NonceStanding(chains, lab.node.get(FundsRepository), slots);
  return { list: new ListNonces(slots, standing), find: new FindNonce(chains, slots, standing) };
}

const list = (filter: Partial<SlotFilter> = {}, viewer: SlotViewer = ANYONE) =>
  parts().list.execute(lab.node.signer(), { limit: 50, ...filter }, viewer);
const find = (nonce: bigint, viewer: SlotViewer = ANYONE) => parts().find.execute(lab.node.signer(), nonce, viewer);

/** Slots as a test wants them, from nonce 0 on. */
async function put(...statuses: readonly (readonly [status: string, txId?: string])[]): Promise<void> {
  const { chainId, address } = lab.node.signer();
  const text = `
    INSERT INTO signer_nonce_allocation (chain_id, signer, nonce, status, tx_id, fencing_token)
    SELECT $1, $2, n.nonce - 1, n.status, n.tx_id, 1 FROM unnest($3::text[], $4::uuid[]) WITH ORDINALITY AS n (status, tx_id, nonce)`;
  const columns = [statuses.map(([status]) => status), statuses.map(([, txId]) => txId ?? null)];
  await lab.node.get(Database).query({ name: 'test_put_slots', text }, [chainId, address, ...columns]);
}

describe('the nonces of a signer', () => {
  it('are shown from the highest down, with cursor and chain, from the queue of a pool to the final block', async () => {
    const [first, second] = [await lab.create(1), await lab.create(2)];
    await lab.node.step();
    expect(await list()).toMatchObject({
      cursor: 2n,
      chain: { latest: 0n, pending: 2n },
      missing: null,
      items: [
        { nonce: 1n, status: 'HELD', use: 'payload', txId: second, state: 'IN_MEMPOOL', onChain: null },
        { nonce: 0n, status: 'HELD', use: 'payload', txId: first, state: 'IN_MEMPOOL', onChain: null },
      ],
      nextBelow: null,
    });
    await lab.confirmAll();
    const { items, chain } = await list();
    expect(chain).toEqual({ latest: 2n, pending: 2n });
    expect(items.map(({ status, state }) => [status, state])).toEqual([
      ['CONSUMED', 'CONFIRMED'],
      ['CONSUMED', 'CONFIRMED'],
    ]);
  });

  it('say which of them outside senders have', async () => {
    const txId = await lab.create(1, { hold: { ttl: null, count: 1, index: 0 }, payload: NO_PAYLOAD });
    await lab.node.step();
    const slot = { nonce: 0n, status: 'HELD', use: 'hold', txId, state: 'ALLOCATED', txHash: null };
    expect([(await list()).items, (await find(0n)).slot]).toMatchObject([[slot], slot]);
    // Who may close it is told which hold that is, whosever it is.
    const reader = { ...STRANGER, scopes: ['tx:read', 'nonces'] as const };
    expect([(await list({}, STRANGER)).items[0]?.txId, (await find(0n, STRANGER)).slot?.txId]).toEqual([txId, txId]);
    expect([(await list({}, reader)).items[0]?.txId, (await find(0n, reader)).slot?.txId]).toEqual([null, null]);
    await lab.node.get(SubmitCommand).execute(anOrder('release', txId));
    await lab.node.commands();
    expect((await find(0n)).slot).toMatchObject({ status: 'RELEASED', use: 'free', txId: null });
  });

  it('name no tx of another account, nor what it signed before that is mined', async () => {
    const txId = await lab.sent(1);
    const [own, hidden] = [await find(0n), await find(0n, STRANGER)];
    expect(own.slot).toMatchObject({ txId, state: 'IN_MEMPOOL', txHash: own.attempts[0]?.txHash });
    expect(own.attempts).toEqual([expect.objectContaining({ txId, kind: 'payload', status: 'ACCEPTED' })]);
    expect(hidden.slot).toMatchObject({ txId: null, state: 'IN_MEMPOOL', use: 'payload', txHash: null });
    expect([hidden.attempts, hidden.onChain]).toEqual([[], null]);
    await lab.mine();
    const mined = await find(0n, STRANGER);
    expect(mined.slot).toMatchObject({ txId: null, state: 'MINED', txHash: own.attempts[0]?.txHash });
    expect(mined.onChain).toEqual({ txHash: own.attempts[0]?.txHash, block: expect.anything() });
  });

  it('say what nobody has, and whether anything waits for it; and what somebody else used', async () => {
    await put(['CONSUMED'], ['RELEASED'], ['HELD', GRANT], ['RELEASED']);
    const { items } = await list();
    expect(items.map(({ nonce, use }) => [nonce, use])).toEqual([
      [3n, 'free'],
      [2n, 'payload'],
      [1n, 'gap'],
      [0n, 'foreign'],
    ]);
  });

  it('say of one that was signed away for which tx that was, but not of which transaction', async () => {
    const txId = await lab.sent(1);
    const { chainId, address } = lab.node.signer();
    const text = `
      INSERT INTO tx_authorization (grant_id, tx_id, chain_id, authority, nonce, granted_at) VALUES ('${GRANT}', '${txId}', ${chainId}, '${address}', 1, now());
      INSERT INTO signer_nonce_allocation (chain_id, signer, nonce, status, tx_id, fencing_token) VALUES (${chainId}, '${address}', 1, 'HELD', '${GRANT}', 1)`;
    for (const one of text.split(';'))
      await lab.node.get(Database).query({ name: `grant_${one.length}`, text: one }, []);
    await lab.mine();
    expect((await find(1n)).slot).toMatchObject({ use: 'authorization', txId, txHash: null, onChain: null });
  });

  it('name no tx of a signer that the key may not use, for which they were signed away', async () => {
    const txId = await lab.sent(1);
    const authority = aSigner(98);
    const text = `
      INSERT INTO tx_authorization (grant_id, tx_id, chain_id, authority, nonce, granted_at) VALUES ('${GRANT}', '${txId}', ${authority.chainId}, '${authority.address}', 1, now());
      INSERT INTO signer_nonce_allocation (chain_id, signer, nonce, status, tx_id, fencing_token) VALUES (${authority.chainId}, '${authority.address}', 1, 'HELD', '${GRANT}', 1)`;
    for (const one of text.split(';'))
      await lab.node.get(Database).query({ name: `limited_${one.length}`, text: one }, []);
    const slots = new PgSlotQueries(lab.node.get(ReadDatabase));
    const limitedTo = (...signers: SignerId[]) => ({ ...ANYONE, only: { signers, chainIds: null } });
    const seen = (viewer: SlotViewer) => slots.find(authority, 1n, viewer);
    expect(await seen(limitedTo(authority))).toMatchObject({ use: 'authorization', txId: null });
    expect(await seen(limitedTo(authority, lab.node.signer()))).toMatchObject({ use: 'authorization', txId });
    expect(await seen(ANYONE)).toMatchObject({ txId });
  });

  it('come in pages, also those of one status, which look through a thousand', async () => {
    await put(['RELEASED'], ...Array.from({ length: 1_001 }, () => ['CONSUMED'] as const), ['RELEASED']);
    const first = await list({ limit: 2 });
    expect([first.items.map(({ nonce }) => nonce), first.nextBelow]).toEqual([[1_002n, 1_001n], 1_001n]);
    expect((await list({ limit: 2, below: 1_001n })).items.map(({ nonce }) => nonce)).toEqual([1_000n, 999n]);
    const released = await list({ limit: 2, status: 'RELEASED' });
    expect([released.items.map(({ nonce }) => nonce), released.nextBelow]).toEqual([[1_002n], 3n]);
    const rest = await list({ limit: 2, status: 'RELEASED', below: 3n });
    expect([rest.items.map(({ nonce }) => nonce), rest.nextBelow]).toEqual([[0n], null]);
    expect((await list({ limit: 3, below: 3n })).nextBelow).toBeNull();
    expect((await list({ limit: 2, below: 3n })).nextBelow).toBe(1n);
  });

  it('show what the chain waits for and nobody was given', async () => {
    await lab.sent(1);
    const { chainId, address } = lab.node.signer();
    const values = [chainId, address];
    const text = `UPDATE signer_nonce_allocation SET nonce = nonce + 3 WHERE chain_id = $1 AND signer = $2`;
    await lab.node.get(Database).query({ name: 'test_move', text }, values);
    expect((await list()).missing).toEqual({ from: 0n, count: 3 });
    const drop = `DELETE FROM signer_nonce_allocation WHERE chain_id = $1 AND signer = $2`;
    await lab.node.get(Database).query({ name: 'test_drop', text: drop }, values);
    expect((await list()).missing).toEqual({ from: 0n, count: 1 });
  });
});

describe('one nonce', () => {
  it('that somebody else used is shown with the transaction, although there is no slot', async () => {
    const signer = lab.node.signer();
    const used = lab.chain.sendForeign(signer.address, 0n);
    lab.chain.mine();
    expect(await find(0n)).toMatchObject({ slot: null, attempts: [], onChain: { txHash: used.hash } });
    lab.chain.namesUsers = false;
    expect((await find(0n)).onChain).toEqual({ txHash: null, block: null });
    expect((await find(1n)).onChain).toBeNull();
  });

  it('of a chain that does not answer is shown as the database has it', async () => {
    const txId = await lab.sent(1);
    lab.chain.transactionCounts = () => Promise.reject(new Error('away'));
    expect(await find(0n)).toMatchObject({ cursor: 1n, chain: null, missing: null, slot: { txId }, onChain: null });
  });

  it('of an address that is no signer is not there', async () => {
    const nobody = parts().find.execute(aSigner(99), 0n, ANYONE);
    await expect(nobody).rejects.toMatchObject({ code: 'unknown_signer' });
  });
});
