import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { DEV_ACCOUNTS } from '../support/anvil.js';
import { Cluster } from '../support/cluster.js';
import type { ClusterNode } from '../support/cluster-node.js';
import { until } from '../support/until.js';

const ROLES = ['api', 'api', 'worker', 'worker'] as const;
const SIGNERS = DEV_ACCOUNTS.slice(0, 6);

let cluster: Cluster;
let api: readonly ClusterNode[];
let workers: readonly ClusterNode[];

beforeAll(async () => {
  const env = (place: number): Record<string, string> => ({ LOCKSTEP_NODE_ROLE: ROLES[place] ?? 'all' });
  const config = { node: { forwardSecret: 'a secret of these tests' } };
  cluster = await Cluster.start({ nodes: ROLES.length, blockTime: 0.5, env, config });
  [api, workers] = [cluster.nodes.slice(0, 2), cluster.nodes.slice(2)];
});

afterAll(() => cluster.stop());

async function ownedBy(node: ClusterNode): Promise<number> {
  const owners = await Promise.all(SIGNERS.map((signer) => cluster.leaseOwner(signer)));
  return owners.filter((owner) => owner === node).length;
}

function leasesTaken(nodes: readonly ClusterNode[]): number {
  return nodes.flatMap(({ lives }) => lives.flatMap((life) => life.logged('lease acquired'))).length;
}

/**
 * The roles were real, because every create is counted by a node of role api, and every lease that was ever taken is in the
 * log of a worker. The faults happened, because each worker that had signers ended by SIGKILL, and the other one had them all.
 */
it('nodes of role api take requests without a break while one worker after the other dies under load', async () => {
  const pids = api.map(({ service }) => service.pid);
  const creates = cluster.createMany(SIGNERS, 'roles', 30, api);
  for (const round of ['first', 'second']) {
    await cluster.createMany(SIGNERS, `${round}-before`, 5, api);
    const dying = await cluster.nextOwner(SIGNERS[0] ?? '');
    const [heir] = workers.filter((worker) => worker !== dying);
    if (!heir) throw new Error('there are two workers');
    expect(await dying.kill()).toEqual({ code: null, signal: 'SIGKILL' });
    const orphaned = cluster.createMany(SIGNERS, `${round}-orphaned`, 20, api);
    await until('the other worker has them all', async () => (await ownedBy(heir)) === SIGNERS.length);
    await orphaned;
    await dying.start();
  }
  await creates;
  await cluster.expectExactlyOnce();

  for (const node of api) expect(await node.metric('tx_create_total')).toBeGreaterThan(100);
  expect(api.map(({ service }) => service.pid)).toEqual(pids);
  expect(leasesTaken(api)).toBe(0);
  expect(leasesTaken(workers)).toBeGreaterThanOrEqual(2 * SIGNERS.length);
  for (const worker of workers) expect((await worker.service.get('/api/v1/signers')).status).toBe(404);
});
