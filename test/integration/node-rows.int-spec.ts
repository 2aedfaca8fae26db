import { describe, expect, it } from '@jest/globals';
import { type CallerLimits, limitedTo } from '../../src/kernel/caller.js';
import { signerKey } from '../../src/kernel/signer-id.js';
import { PgNodeRegistry } from '../../src/modules/signers/infrastructure/pg-node-registry.js';
import { SignerLimits } from '../../src/modules/ops/application/signer-limits.js';
import { NOBODY } from '../../src/modules/ops/domain/pause-view.js';
import { PgSignerOverview } from '../../src/modules/ops/infrastructure/pg-signer-overview.js';
import { fakeOf } from '../support/fakes/fake-of.js';
import { aSigner, DEV_CHAIN } from '../support/builders.js';
import { storedRows } from '../support/stored-rows.js';

const stored = await storedRows();
const { database } = stored.node;
const OURS = aSigner(1);
const OTHER = aSigner(2);
const WINDOW_MS = 60_000;

/** Each process has a registry of its own. */
const beat = async (
  nodeId: string,
  { acts = true, serves = true, signers = [OURS], url = null as string | null } = {},
) => new PgNodeRegistry(database, database).heartbeat({ nodeId, advertisedUrl: url, acts, serves, signers }, WINDOW_MS);
const seenBy = async (nodeId: string, options = {}): Promise<string[]> =>
  (await beat(nodeId, options)).acting.map((node) => node.nodeId);

const putNode = (id: string, seen: string, more = {}): Promise<void> =>
  stored.put('node', { node_id: id, acts: true, serves: true, last_seen_at: `now() - interval '${seen}'`, ...more });

describe('a heartbeat', () => {
  it('tells who acts and was seen within the window, with itself, in the order of names', async () => {
    await putNode('c', '50 seconds');
    await putNode('d', '70 seconds');
    await putNode('e', '1 second', { acts: false });
    expect(await seenBy('b')).toEqual(['b', 'c']);
  });

  it('of a node that only answers requests tells of others, and not of itself', async () => {
    await putNode('c', '1 second');
    expect(await seenBy('b', { acts: false })).toEqual(['c']);
  });

  it('counts who serves and was seen within the window, with itself', async () => {
    await putNode('c', '50 seconds');
    await putNode('d', '70 seconds');
    await putNode('e', '1 second', { serves: false });
    await putNode('f', '1 second', { acts: false });
    expect((await beat('b')).serving).toBe(3);
    expect((await beat('b2', { serves: false })).serving).toBe(3);
  });

  it('is seen by others as soon as it is back', async () => {
    await putNode('c', '70 seconds');
    expect(await seenBy('b')).toEqual(['b']);
    await beat('c');
    expect(await seenBy('b')).toEqual(['b', 'c']);
  });

  it('of a new process announces the keys anew, so that they are not forgotten meanwhile', async () => {
    await beat('b');
    await stored.read(`UPDATE node_key_set SET announced_at = now() - interval '2 hours'`);
    await beat('c');
    const [row] = await stored.read<{ fresh: boolean }>(
      `SELECT announced_at > now() - interval '1 minute' AS fresh FROM node_key_set`,
    );
    expect(row?.fresh).toBe(true);
  });

  it('tells the keys of each node as its own', async () => {
    await beat('b', { signers: [OURS] });
    await beat('c', { signers: [OTHER] });
    const [, , d] = (await beat('d', { signers: [] })).acting;
    const { acting: nodes } = await beat('e', { signers: [] });
    expect(nodes.map(({ nodeId, signers }) => [nodeId, [...(signers ?? ['unknown'])]])).toEqual([
      ['b', [signerKey(OURS)]],
      ['c', [signerKey(OTHER)]],
      ['d', []],
      ['e', []],
    ]);
    expect([...(d?.signers ?? ['unknown'])]).toEqual([]);
  });

  it('deletes nothing', async () => {
    await putNode('c', '61 minutes');
    await beat('b');
    expect(await stored.read('SELECT node_id FROM node ORDER BY 1')).toEqual([{ node_id: 'b' }, { node_id: 'c' }]);
  });
});

describe('forgetting the dead', () => {
  it('buries who was not seen for an hour, and the keys that nobody has any more', async () => {
    await stored.put('node_key_set', { key_set: 'old', announced_at: `now() - interval '2 hours'`, signers: '{}' });
    await stored.put('node_key_set', { key_set: 'used', announced_at: `now() - interval '2 hours'`, signers: '{}' });
    await stored.put('node_key_set', { key_set: 'new', announced_at: `now() - interval '1 minute'`, signers: '{}' });
    await putNode('c', '61 minutes');
    await putNode('d', '59 minutes', { key_set: 'used' });
    const registry = new PgNodeRegistry(database, database);
    await registry.heartbeat(
      { nodeId: 'b', advertisedUrl: null, acts: true, serves: true, signers: [OURS] },
      WINDOW_MS,
    );
    await registry.forgetDead('b');
    expect(await stored.read('SELECT node_id FROM node ORDER BY 1')).toEqual([{ node_id: 'b' }, { node_id: 'd' }]);
    const sets = await stored.read<{ key_set: string }>('SELECT key_set FROM node_key_set');
    expect(
      sets
        .map(({ key_set }) => key_set)
        .filter((set) => set.length < 64)
        .sort(),
    ).toEqual(['new', 'used']);
  });

  it('keeps its own row and its own keys, however long it was silent', async () => {
    const registry = new PgNodeRegistry(database, database);
    const self = { nodeId: 'b', advertisedUrl: null, acts: true, serves: true, signers: [OURS] };
    await registry.heartbeat(self, WINDOW_MS);
    await stored.read(`UPDATE node_key_set SET announced_at = now() - interval '2 hours'`);
    await stored.read(`UPDATE node SET last_seen_at = now() - interval '2 hours'`);
    await registry.forgetDead('b');
    expect(await stored.read('SELECT node_id FROM node')).toHaveLength(1);
    expect(await stored.read('SELECT key_set FROM node_key_set')).toHaveLength(1);
    // Another one has buried it meanwhile.
    await stored.read('DELETE FROM node');
    await registry.forgetDead('b');
    await registry.heartbeat(self, WINDOW_MS);
    expect(await stored.read('SELECT node_id FROM node')).toHaveLength(1);
    expect(await stored.read('SELECT key_set FROM node_key_set')).toHaveLength(1);
  });

  it('leaves the keys of others that were announced lately, when its own are not announced yet', async () => {
    await stored.put('node_key_set', { key_set: 'old', announced_at: `now() - interval '2 hours'`, signers: '{}' });
    await stored.put('node_key_set', { key_set: 'new', announced_at: `now() - interval '1 minute'`, signers: '{}' });
    await new PgNodeRegistry(database, database).forgetDead('b');
    expect(await stored.read('SELECT key_set FROM node_key_set')).toEqual([{ key_set: 'new' }]);
  });
});

it('a node that leaves is gone at once, and no other', async () => {
  await beat('b');
  await beat('c');
  await new PgNodeRegistry(database, database).leave('c');
  expect(await stored.read('SELECT node_id FROM node')).toEqual([{ node_id: 'b' }]);
});

describe('the holder of a lease', () => {
  const holder = () => new PgNodeRegistry(database, database).holderOf(OURS);

  it('is its owner, with where to reach it and how long it is good for', async () => {
    await stored.putLease({ owner_node: 'd', chain_id: 7 });
    await stored.putLease({ owner_node: 'c', signer: OTHER.address });
    await stored.putLease({ owner_node: 'b', expires_at: `now() + interval '1 minute'` });
    await beat('b', { url: 'http://b' });
    await beat('c', { url: 'http://c' });
    const found = await holder();
    expect(found).toMatchObject({ nodeId: 'b', advertisedUrl: 'http://b' });
    expect(Math.round((found?.expiresInMs ?? 0) / 10_000)).toBe(6);
  });

  it('is named also when it never said where it is', async () => {
    await stored.putLease({ owner_node: 'b' });
    expect(await holder()).toMatchObject({ nodeId: 'b', advertisedUrl: null });
  });

  it('is nobody when the lease has run out', async () => {
    await stored.putLease({ owner_node: 'b', expires_at: `now() - interval '1 second'` });
    expect(await holder()).toBeNull();
  });
});

describe('the overview of signers', () => {
  const learnt = { configured: 64, learnt: 16, delegated: false };
  const limits = fakeOf(SignerLimits, { of: () => learnt });
  const overview = new PgSignerOverview(database, limits);
  const register = async (...signers: readonly (typeof OURS)[]): Promise<void> => {
    for (const { chainId, address } of signers)
      await stored.put('signer', { chain_id: chainId, address, custody: '{"type":"key"}' });
  };

  it('counts a part of what waits, so that one signer with millions does not keep the others from being shown', async () => {
    const others = Array.from({ length: 99 }, (_, n) => ({ ...OURS, chainId: 50_000 + n }));
    await register(OURS, ...others);
    await stored.putTx(1, { state: 'PENDING' });
    const columns = `chain_id, signer, request_hash, value, data, options, priority, state`;
    await stored.lab.observer.run(`
      INSERT INTO managed_tx (tx_id, request_id, ${columns})
      SELECT gen_random_uuid(), 'waiting-' || n, ${columns} FROM managed_tx, generate_series(1, 1100) n`);
    const pending = async (limit: number) =>
      (await overview.list(null, limit, NOBODY)).find(({ chainId }) => chainId === DEV_CHAIN)?.pending;
    expect([await pending(1), await pending(100)]).toEqual([1_101, 1_000]);
  });

  it('has of each its lease, its cursor and what is unfinished, and nothing of another chain', async () => {
    await register(OURS);
    await stored.putLease({ owner_node: 'b', fencing_token: 4 });
    await stored.putLease({ owner_node: 'c', fencing_token: 9, chain_id: 7 });
    await stored.putCursor(12);
    await stored.putCursor(99, { ...OURS, chainId: 7 });
    for (const [i, state] of [
      'PENDING',
      'PENDING',
      'PENDING',
      'ALLOCATED',
      'IN_MEMPOOL',
      'MINED',
      'CONFIRMED',
    ].entries()) {
      await stored.putTx(i + 1, { state });
      await stored.putTx(i + 11, { state, chain_id: 7 });
      await stored.putTx(i + 21, { state, signer: OTHER.address });
    }
    expect(await overview.list(null, 10, NOBODY)).toMatchObject([
      {
        chainId: DEV_CHAIN,
        address: OURS.address,
        custody: { type: 'key' },
        leaseOwner: 'b',
        fencingToken: '4',
        leaseExpiresAt: expect.any(String),
        pending: 3,
        inFlight: 2,
        backlog: 5,
        inFlightLimit: learnt,
      },
    ]);
    const [view] = await overview.list(null, 10, NOBODY);
    expect(Number(view?.cursor)).toBe(12);
  });

  it('names no owner of a lease that has run out', async () => {
    await register(OURS);
    await stored.putLease({ owner_node: 'b', expires_at: `now() - interval '1 second'` });
    expect(await overview.list(null, 10, NOBODY)).toMatchObject([{ leaseOwner: null, leaseExpiresAt: null }]);
  });

  it('has signers that nobody ever worked for', async () => {
    await register(OURS);
    expect(await overview.list(null, 10, NOBODY)).toMatchObject([
      { leaseOwner: null, fencingToken: null, cursor: null },
    ]);
  });

  it('has only those that the caller may use', async () => {
    const elsewhere = { ...OURS, chainId: 7 };
    await register(OURS, OTHER, elsewhere);
    const shown = async (only: CallerLimits) =>
      (await overview.list(null, 10, { ...NOBODY, only })).map(({ chainId, address }) => [chainId, address]);
    expect(await shown(limitedTo([OURS], null))).toEqual([[DEV_CHAIN, OURS.address]]);
    expect(await shown(limitedTo(null, [7]))).toEqual([[7, OURS.address]]);
    expect(await shown(limitedTo([], null))).toEqual([]);
  });

  it('comes in pages by chain and address, each behind the one before', async () => {
    await register(OTHER, OURS, { ...OTHER, chainId: 7 });
    const first = await overview.list(null, 2, NOBODY);
    expect(first.map(({ chainId, address }) => [chainId, address])).toEqual([
      [7, OTHER.address],
      [DEV_CHAIN, OURS.address],
    ]);
    expect(await overview.list({ chainId: DEV_CHAIN, address: OURS.address }, 2, NOBODY)).toMatchObject([
      { chainId: DEV_CHAIN, address: OTHER.address },
    ]);
    // The address of the next one is lower: it is of another chain.
    expect(await overview.list({ chainId: 7, address: OTHER.address }, 1, NOBODY)).toMatchObject([
      { chainId: DEV_CHAIN, address: OURS.address },
    ]);
  });
});
