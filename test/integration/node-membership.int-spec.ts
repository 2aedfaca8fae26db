import { beforeEach, describe, expect, it } from '@jest/globals';
import type { NodeEntry } from '../../src/modules/signers/domain/node-registry.js';
import { PgNodeRegistry } from '../../src/modules/signers/infrastructure/pg-node-registry.js';
import { acquire, twoNodeLab } from '../support/fence-lab.js';

const { lab, first } = await twoNodeLab();
const WINDOW_MS = 60_000;

const registry = (): PgNodeRegistry => new PgNodeRegistry(first.database, first.database);
const seenBy = async (nodeId: string, self: Partial<NodeEntry> = {}): Promise<string[]> => {
  const entry = { nodeId, advertisedUrl: null, acts: true, serves: true, signers: [], ...self };
  return (await registry().heartbeat(entry, WINDOW_MS)).acting.map((node) => node.nodeId);
};
const lastSeen = (nodeId: string, ago: string): Promise<number> =>
  lab.observer.write(`UPDATE node SET last_seen_at = clock_timestamp() - $2::interval WHERE node_id = $1`, [
    nodeId,
    ago,
  ]);
const stored = async (): Promise<string[]> =>
  (await lab.observer.run<{ node_id: string }>('SELECT node_id FROM node ORDER BY 1')).map((row) => row.node_id);

beforeEach(() => lab.observer.run('DELETE FROM node'));

describe('the nodes that are alive', () => {
  it('are those that act and were seen within the window, this one among them, in the order of their ids', async () => {
    for (const node of ['c', 'late', 'a']) await seenBy(node);
    await seenBy('api', { acts: false });
    await lastSeen('late', '61 seconds');
    await lastSeen('a', '59 seconds');
    expect(await seenBy('b')).toEqual(['a', 'b', 'c']);
    expect(await seenBy('api', { acts: false })).toEqual(['a', 'b', 'c']);
  });

  it('are alive again after a heartbeat', async () => {
    await seenBy('a');
    await lastSeen('a', '2 minutes');
    expect(await seenBy('b')).toEqual(['b']);
    expect(await seenBy('a')).toEqual(['a', 'b']);
  });

  it('are without those that have left', async () => {
    await seenBy('a');
    await seenBy('b');
    await registry().leave('a');
    expect(await seenBy('b')).toEqual(['b']);
  });

  it('are forgotten when nothing was heard of them for an hour, and not before', async () => {
    for (const node of ['old', 'silent']) await seenBy(node);
    await lastSeen('old', '61 minutes');
    await lastSeen('silent', '59 minutes');
    await registry().forgetDead('b');
    expect(await stored()).toEqual(['silent']);
  });
});

describe('the holder of a lease', () => {
  it('is named with its URL and the time that is left', async () => {
    const { signer } = await acquire(first, lab.freshSigner());
    await seenBy('first', { advertisedUrl: 'http://first:8080' });
    const holder = await registry().holderOf(signer);
    expect(holder).toMatchObject({ nodeId: 'first', advertisedUrl: 'http://first:8080' });
    expect(holder?.expiresInMs).toBeGreaterThan(540_000);
    expect(holder?.expiresInMs).toBeLessThanOrEqual(600_000);
  });

  it('is named also when the node is not listed', async () => {
    const { signer } = await acquire(first, lab.freshSigner());
    expect(await registry().holderOf(signer)).toMatchObject({ nodeId: 'first', advertisedUrl: null });
  });

  it('is nobody when the lease ran out, on another chain, and where there is no lease', async () => {
    const { signer } = await acquire(first, lab.freshSigner());
    expect(await registry().holderOf({ ...signer, chainId: signer.chainId + 1 })).toBeNull();
    await lab.expire(signer, 1);
    expect(await registry().holderOf(signer)).toBeNull();
    expect(await registry().holderOf(lab.freshSigner())).toBeNull();
  });
});
